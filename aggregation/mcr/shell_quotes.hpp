// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace mcr::aggregation {

/// Returns `text` in single quotes, for a shell. Characters in `escaped` get a backslash, for a shell's own syntax within a
/// word.
inline std::string in_quotes(std::string_view text, std::string_view escaped = {}) {
  std::string result = "'";
  for (const char c : text) {
    if (escaped.find(c) != std::string_view::npos) result += '\\';
    result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return result + "'";
}

/// Returns the word as a user would type it: in quotes only if a shell would change it.
inline std::string as_shell_word(const std::string& word) {
  const bool is_plain =
      !word.empty() &&
      word.find_first_not_of(
          "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=./:,@%") ==
          std::string::npos;
  return is_plain ? word : in_quotes(word);
}

}  // namespace mcr::aggregation
