// SPDX-License-Identifier: BSD-3-Clause
// Texts as parts of file names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace mcr::restart {

/// The beginning of `text`, at most so many bytes and not cut in the middle of a character of UTF-8,
/// because some file systems refuse such names.
std::string cut_text(std::string_view text, std::size_t limit);

/// `text` as a part of file names: other characters than [A-Za-z0-9_-] become '_', and where
/// anything was changed or cut to `limit` characters, a checksum of the original follows, so that
/// different texts stay different.
std::string safe_name(std::string_view text, std::size_t limit);

/// 16 hexadecimal digits.
std::string hexadecimal(std::uint64_t value);

}  // namespace mcr::restart
