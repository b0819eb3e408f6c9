// SPDX-License-Identifier: BSD-3-Clause
// How symbols are cut into segments, and segments into streams. spec.md, "Segments".
#pragma once

#include <cstddef>

namespace mcr::codecs::entropy {

inline constexpr std::size_t segment_symbols = 32768;
inline constexpr std::size_t stream_count = 4;
inline constexpr std::size_t directory_bytes = stream_count * 2;  ///< a segment's four u16 sizes

inline constexpr unsigned huffman_bits = 11;  ///< longest code
inline constexpr unsigned tans_bits = 12;     ///< log2 of the number of states

constexpr std::size_t segments_of(std::size_t symbols) {
  return (symbols + segment_symbols - 1) / segment_symbols;
}
/// Returns the number of a stream's first symbol in a segment of `symbols` symbols. For stream 4,
/// returns the segment's end.
constexpr std::size_t stream_start(std::size_t symbols, std::size_t stream) {
  return symbols * stream / stream_count;
}

}  // namespace mcr::codecs::entropy
