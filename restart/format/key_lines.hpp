// SPDX-License-Identifier: BSD-3-Clause
// Text with one line KEY=VALUE for each value.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace mcr::restart {

inline void add_key_line(std::string& text, std::string_view key, std::string_view value) {
  text.append(key).append("=").append(value).append("\n");
}

/// Calls `take(key, value)` for each line KEY=VALUE; other lines are ignored.
template <typename Take>
void for_each_key_line(std::string_view text, Take take) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::size_t equals = line.find('=');
    if (equals != std::string_view::npos) take(line.substr(0, equals), line.substr(equals + 1));
  }
}

}  // namespace mcr::restart
