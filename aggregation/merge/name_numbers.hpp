// SPDX-License-Identifier: BSD-3-Clause
// The numbers in the names of datasets. (Of files: restart/format/masked_name.)
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace mcr::aggregation {

/// A run of digits, as long as possible.
struct NameNumber {
  std::size_t begin = 0;
  std::size_t end = 0;

  [[nodiscard]] std::string_view text_in(std::string_view name) const {
    return name.substr(begin, end - begin);
  }
};

std::vector<NameNumber> numbers_in(std::string_view name);

}  // namespace mcr::aggregation
