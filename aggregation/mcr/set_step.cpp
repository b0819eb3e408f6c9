// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/mcr/set_step.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "restart/base/path_names.hpp"
#include "restart/format/container_name.hpp"
#include "restart/format/masked_name.hpp"

namespace mcr::aggregation {
namespace {

using restart::NameNumber;

std::string text_of(const std::string& name, const NameNumber& number) {
  const std::string digits = name.substr(number.begin, number.end - number.begin);
  return digits.substr(std::min(digits.find_first_not_of('0'), digits.size() - 1));
}

std::size_t components_in(const std::string& path) {
  return static_cast<std::size_t>(std::count(path.begin(), path.end(), '/')) + 1;
}

/// Returns the offset in the masked name at which the components below the directory `top` begin.
std::size_t begin_below(const StoredSet& set, const std::string& top) {
  const std::string& name = set.name.masked_name;
  const std::string base = restart::container_name(name, "mcr", "", 0).base;
  std::size_t components = components_in(name) - (base == "." ? 0 : components_in(base));
  const std::string home = restart::parent_of(restart::parent_of(set.prefix));
  const std::string above = top == "." ? "" : top + "/";
  if (home != top && home != "." && home.starts_with(above))
    components += components_in(home.substr(above.size()));
  return name.size() - restart::path_tail(name, components).size();
}

/// The sets of one pattern.
class SamePattern {
 public:
  void add(const std::string& name) {
    const std::vector<NameNumber> numbers = restart::numbers_in(name);
    if (first_.empty()) {
      first_ = name;
      numbers_ = numbers;
      differs_.resize(numbers.size());
    }
    ++count_;
    for (std::size_t i = 0; i < std::min(numbers.size(), numbers_.size()); ++i)
      differs_[i] = differs_[i] || text_of(name, numbers[i]) != text_of(first_, numbers_[i]);
  }

  [[nodiscard]] std::size_t count() const { return count_; }

  /// Returns the index of the number that is the step, if any differs.
  [[nodiscard]] std::optional<std::size_t> place() const {
    const auto last = std::find(differs_.rbegin(), differs_.rend(), true);
    if (last == differs_.rend()) return std::nullopt;
    std::size_t place = static_cast<std::size_t>(differs_.rend() - last) - 1;
    const std::size_t component = component_of(place);
    for (std::size_t i = 0; i < place; ++i) {
      if (differs_[i] && component_of(i) == component) place = i;
    }
    return place;
  }

 private:
  [[nodiscard]] std::size_t component_of(std::size_t number) const {
    return components_in(first_.substr(0, numbers_[number].begin));
  }

  std::string first_;
  std::size_t count_ = 0;
  std::vector<NameNumber> numbers_;  ///< of the first name
  std::vector<bool> differs_;
};

}  // namespace

std::vector<std::string> steps_of(const std::vector<StoredSet>& sets, const std::string& top) {
  std::map<std::string, SamePattern> patterns;
  for (const StoredSet& set : sets)
    patterns[restart::pattern_of(set.name.masked_name)].add(set.name.masked_name);
  std::vector<std::string> steps;
  for (const StoredSet& set : sets) {
    const std::string& name = set.name.masked_name;
    const std::vector<NameNumber> numbers = restart::numbers_in(name);
    const std::string pattern = restart::pattern_of(name);
    const auto place = patterns[pattern].place();
    std::string step;
    if (place && *place < numbers.size()) {
      step = text_of(name, numbers[*place]);
    } else if (patterns[pattern].count() == 1 && !numbers.empty() &&
               numbers.back().begin >= begin_below(set, top)) {
      step = text_of(name, numbers.back());
    }
    steps.push_back(std::move(step));
  }
  return steps;
}

}  // namespace mcr::aggregation
