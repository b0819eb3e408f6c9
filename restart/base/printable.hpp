// SPDX-License-Identifier: BSD-3-Clause
// Text that goes to people. A file's name may hold any byte, and a terminal obeys some of them:
// whatever is printed goes through here.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mcr::restart {

/// `text` with each control character, each character that changes the direction of text, and each
/// byte that is no UTF-8 replaced by its escape in C: "\n", "\t", "\r", else three octal digits, as
/// `ls -b` prints them. All other characters stay as they are, backslashes too.
std::string printable(std::string_view text);

/// One character at the beginning of a text that is not empty.
struct Character {
  std::size_t bytes = 1;  ///< that it takes
  bool is_utf8 = false;   ///< well-formed; if not, it is the one byte
  char32_t code = 0;      ///< its number, if `is_utf8`
};
Character first_character(std::string_view text);

}  // namespace mcr::restart
