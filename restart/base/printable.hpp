// SPDX-License-Identifier: BSD-3-Clause
// Escapes text that people read. A file's name may hold any byte, and a terminal acts upon some of
// them, so all printed text goes through here.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mcr::restart {

/// Returns `text` with some characters replaced by their escapes in C. These are control
/// characters, characters that change the direction of text, and bytes that are not UTF-8. The
/// escapes are "\n", "\t", "\r", else three octal digits, as `ls -b` prints them. All other
/// characters stay as they are, backslashes too.
std::string printable(std::string_view text);

/// The first character of a text that is not empty.
struct Character {
  std::size_t bytes = 1;  ///< its length
  bool is_utf8 = false;   ///< it is well-formed UTF-8; if not, the character is a single byte
  char32_t code = 0;      ///< its number, if `is_utf8`
};
Character first_character(std::string_view text);

}  // namespace mcr::restart
