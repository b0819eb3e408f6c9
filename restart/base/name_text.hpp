// SPDX-License-Identifier: BSD-3-Clause
// Texts as parts of file names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace mcr::restart {

/// Returns the first bytes of `text`, at most `limit`. No UTF-8 character is cut in the middle,
/// because some file systems refuse such names.
std::string cut_text(std::string_view text, std::size_t limit);

/// Returns `text` as a part of file names: characters other than [A-Za-z0-9_-] become '_'. If
/// anything was changed, or cut to `limit` characters, a checksum of the original is appended, so
/// that different texts stay different.
std::string safe_name(std::string_view text, std::size_t limit);

/// 16 hexadecimal digits.
std::string hexadecimal(std::uint64_t value);

}  // namespace mcr::restart
