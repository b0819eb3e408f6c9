// SPDX-License-Identifier: BSD-3-Clause
// The only table of codecs. A new codec needs a folder, a spec.md, a row in this table and a golden
// file.
#pragma once

#include <span>
#include <string_view>

#include "codecs/base/codec.hpp"

namespace mcr::codecs {

/// The codecs' numbers in frames. The number of a codec without a row in the table is reserved.
namespace codec_id {
inline constexpr CodecId zstd = 1;
inline constexpr CodecId zlib = 2;
inline constexpr CodecId lz4 = 3;
inline constexpr CodecId fpzip = 4;
inline constexpr CodecId transpose = 5;
inline constexpr CodecId delta = 6;
inline constexpr CodecId zigzag = 7;
inline constexpr CodecId ordered_int = 8;
inline constexpr CodecId lorenzo = 9;
inline constexpr CodecId structure_split = 10;
inline constexpr CodecId constant = 11;
inline constexpr CodecId planes = 12;
inline constexpr CodecId top_bits = 13;
inline constexpr CodecId class_coder = 14;
inline constexpr CodecId stencil = 15;
inline constexpr CodecId fpc = 16;
inline constexpr CodecId entropy = 17;
inline constexpr CodecId records = 18;
inline constexpr CodecId dictionary = 19;
inline constexpr CodecId multiples = 20;
}  // namespace codec_id

/// One row: a codec may be used in frames of format versions first_version to last_version.
struct CodecEntry {
  CodecId id;
  std::string_view name;
  const Codec& (*codec)();
  std::uint8_t first_version;
  std::uint8_t last_version;
};

/// All codecs of this build, by rising id.
std::span<const CodecEntry> all_codecs();

/// Return null if there is no such codec.
const CodecEntry* find_codec(CodecId id);
const CodecEntry* find_codec(std::string_view name);

}  // namespace mcr::codecs
