// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/merge/name_numbers.hpp"

namespace mcr::aggregation {

std::vector<NameNumber> numbers_in(std::string_view name) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::vector<NameNumber> numbers;
  for (std::size_t begin = 0; begin < name.size();) {
    std::size_t end = begin;
    while (end < name.size() && is_digit(name[end])) ++end;
    if (end > begin) numbers.push_back({begin, end});
    begin = end + (end == begin ? 1 : 0);
  }
  return numbers;
}

}  // namespace mcr::aggregation
