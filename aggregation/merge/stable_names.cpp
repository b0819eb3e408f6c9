// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/merge/stable_names.hpp"

#include <map>

#include "aggregation/merge/name_numbers.hpp"

namespace mcr::aggregation {
namespace {

/// Returns the name with `any_number` for each number that `is_replaced` marks, in the order of the numbers.
std::string with_any(const std::string& name, const std::vector<NameNumber>& numbers,
                     const std::vector<bool>& is_replaced) {
  std::string text;
  std::size_t end = 0;
  for (std::size_t n = 0; n < numbers.size(); ++n) {
    if (!is_replaced[n]) continue;
    text += name.substr(end, numbers[n].begin - end);
    text += any_number;
    end = numbers[n].end;
  }
  return text + name.substr(end);
}

}  // namespace

std::vector<std::string> stable_names(const std::vector<std::string>& names) {
  struct Form {
    std::string first;            ///< one of its names
    std::vector<bool> is_common;  ///< by number
  };
  std::map<std::string, Form> forms;
  std::vector<const Form*> form_of;
  for (const std::string& name : names) {
    const std::vector<NameNumber> numbers = numbers_in(name);
    const std::vector<bool> all(numbers.size(), true);
    Form& form = forms.try_emplace(with_any(name, numbers, all), Form{name, all}).first->second;
    const std::vector<NameNumber> first = numbers_in(form.first);
    for (std::size_t n = 0; n < numbers.size(); ++n) {
      if (numbers[n].text_in(name) != first[n].text_in(form.first)) form.is_common[n] = false;
    }
    form_of.push_back(&form);
  }
  std::vector<std::string> stable;
  for (std::size_t i = 0; i < names.size(); ++i) {
    stable.push_back(with_any(names[i], numbers_in(names[i]), form_of[i]->is_common));
  }
  return stable;
}

}  // namespace mcr::aggregation
