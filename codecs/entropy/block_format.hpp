// SPDX-License-Identifier: BSD-3-Clause
// Shared by the files of the entropy coder: modes, segments, streams, and bounded reads of bits.
#pragma once

#include <cstdint>

#include "codecs/base/integers.hpp"
#include "codecs/entropy/segments.hpp"

namespace mcr::codecs::entropy {

/// First byte of a block.
enum class Mode : std::uint8_t { raw = 0, constant = 1, huffman = 2, tans = 3 };

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
