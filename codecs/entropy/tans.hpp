// SPDX-License-Identifier: BSD-3-Clause
// tANS (finite state entropy). Its codes are within a fraction of a percent of the entropy, even
// for symbols that need less than one bit, on which Huffman must spend a whole bit. It decodes as
// fast as Huffman, but encodes more slowly.
#pragma once

#include "codecs/entropy/block_format.hpp"
#include "codecs/entropy/entropy.hpp"

namespace mcr::codecs::entropy {

/// How many of the 2^bits states each symbol has; at least one for each symbol that occurs.
struct StateCounts {
  unsigned bits = 0;  ///< 8 to tans_bits
  std::uint16_t states[256] = {};
};

/// Returns states in proportion to the counts. Needs at least two different symbols.
StateCounts tans_states(const Histogram& histogram);

/// Writes a segment's streams one after the other to `out` and their sizes to `directory`; returns
/// their total size. `out` must have 12 bits for each symbol and 64 more bytes.
class TansEncoder {
 public:
  explicit TansEncoder(const StateCounts& states);
  std::size_t encode_segment(Symbols symbols, std::uint8_t* directory, std::uint8_t* out) const;

  struct Symbol {
    std::uint32_t bits;  ///< (state + bits) >> 16 is the number of bits to write
    std::int32_t start;  ///< (state >> number of bits) + start is the place in `next`
  };
  [[nodiscard]] std::span<const Symbol, 256> symbols() const { return symbol_; }
  /// The first 2^bits numbers are used.
  [[nodiscard]] std::span<const std::uint16_t, 1U << tans_bits> next() const { return next_; }

 private:
  unsigned bits_;
  Symbol symbol_[256];
  std::uint16_t next_[1U << tans_bits];
};

class TansDecoder {
 public:
  /// Returns false if the counts do not sum up to 2^bits.
  [[nodiscard]] bool prepare(const StateCounts& states);
  /// Returns false if the streams are damaged. Never reads beyond `readable_end`.
  [[nodiscard]] bool decode_segment(const BitStream (&streams)[stream_count],
                                    const std::uint8_t* readable_end, MutableSymbols symbols) const;

  /// For each state, its symbol, the bits to read << 8, and the next state's base << 16. The first
  /// 2^bits entries are used.
  [[nodiscard]] std::span<const std::uint32_t, 1U << tans_bits> states() const { return state_; }

 private:
  unsigned bits_ = 0;
  std::uint32_t state_[1U << tans_bits];
};

}  // namespace mcr::codecs::entropy
