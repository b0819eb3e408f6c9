// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/merge/stable_names.hpp"

#include <algorithm>
#include <map>
#include <string_view>

namespace mcr::aggregation {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// A name as texts with numbers between them.
struct Parts {
  std::string form;  ///< with any_number for each number
  std::vector<std::string_view> numbers;
};

Parts parts_of(std::string_view name) {
  Parts parts;
  for (std::size_t at = 0; at < name.size();) {
    std::size_t end = at;
    while (end < name.size() && is_digit(name[end])) ++end;
    if (end == at) {
      parts.form += name[at++];
      continue;
    }
    parts.numbers.push_back(name.substr(at, end - at));
    parts.form += any_number;
    at = end;
  }
  return parts;
}

}  // namespace

std::vector<std::string> stable_names(const std::vector<std::string>& names) {
  struct Form {
    std::vector<std::string_view> first;
    std::vector<bool> is_common;  ///< by number
  };
  std::map<std::string, Form> forms;
  std::vector<Parts> all;
  for (const std::string& name : names) {
    const Parts& parts = all.emplace_back(parts_of(name));
    Form& form = forms
                     .try_emplace(parts.form, Form{parts.numbers,
                                                   std::vector<bool>(parts.numbers.size(), true)})
                     .first->second;
    for (std::size_t n = 0; n < form.first.size(); ++n) {
      if (parts.numbers[n] != form.first[n]) form.is_common[n] = false;
    }
  }
  std::vector<std::string> stable;
  for (const Parts& parts : all) {
    const Form& form = forms.find(parts.form)->second;
    std::string& name = stable.emplace_back();
    std::size_t n = 0;
    for (const char c : parts.form) {
      if (c == any_number && !form.is_common[n]) {
        name += parts.numbers[n];
      } else {
        name += c;
      }
      n += c == any_number ? 1 : 0;
    }
  }
  return stable;
}

}  // namespace mcr::aggregation
