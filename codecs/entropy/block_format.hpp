// SPDX-License-Identifier: BSD-3-Clause
// Shared by the files of the entropy coder: modes, segments, streams, and bounded reads of bits.
#pragma once

#include <cstdint>

#include "codecs/base/integers.hpp"

namespace mcr::codecs::entropy {

/// First byte of a block.
enum class Mode : std::uint8_t { raw = 0, constant = 1, huffman = 2, tans = 3 };

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

/// Returns 64 bits from `at`, little-endian; bytes beyond `end` count as zeros.
inline std::uint64_t load_bits(const std::uint8_t* at, const std::uint8_t* end) {
  if (end - at >= 8) return little_endian(load<std::uint64_t>(at));
  std::uint64_t bits = 0;
  for (unsigned shift = 0; at < end; ++at, shift += 8) bits |= std::uint64_t{*at} << shift;
  return bits;
}

/// One stream being read: the next bit is bit `used` of the byte `at`.
struct BitStream {
  const std::uint8_t* at = nullptr;
  /// End of this stream; reads may go beyond it, up to the block's end.
  const std::uint8_t* end = nullptr;
  unsigned used = 0;  ///< below 8

  void consume(unsigned bits) {
    used += bits;
    at += used >> 3;
    used &= 7;
  }
  /// True if exactly the stream's bytes were read; unused bits of the last byte do not count.
  [[nodiscard]] bool ended() const { return at + (used != 0 ? 1 : 0) == end; }
};

}  // namespace mcr::codecs::entropy
