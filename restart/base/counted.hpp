// SPDX-License-Identifier: BSD-3-Clause
// Numbers as people read them.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace mcr::restart {

/// "1 part", "2 parts": for messages. `one` is a noun whose plural ends in s.
inline std::string counted(std::uint64_t count, std::string_view one) {
  return std::to_string(count).append(" ").append(one).append(count == 1 ? "" : "s");
}

/// "1.4 GB", in powers of 1000.
inline std::string size_text(std::uint64_t bytes) {
  constexpr std::array units{"B", "kB", "MB", "GB", "TB", "PB"};
  double number = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (number >= 999.5 && unit + 1 < units.size()) {
    number /= 1000;
    ++unit;
  }
  std::array<char, 64> text;
  std::snprintf(text.data(), text.size(), unit == 0 || number >= 99.95 ? "%.0f %s" : "%.1f %s",
                number, units[unit]);
  return text.data();
}

}  // namespace mcr::restart
