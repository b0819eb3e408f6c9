// SPDX-License-Identifier: BSD-3-Clause
// Canonical Huffman codes of at most 11 bits.
#pragma once

#include "codecs/entropy/block_format.hpp"
#include "codecs/entropy/entropy.hpp"

namespace mcr::codecs::entropy {

/// Length of each symbol's code in bits, 0 for symbols that do not occur.
struct CodeLengths {
  std::uint16_t length[256] = {};
};

/// Returns nearly the best code lengths within the limit. Needs at least two different symbols. The
/// codes are complete: the sum of 2^-length is 1.
CodeLengths huffman_lengths(const Histogram& histogram);

/// Writes a segment's streams one after the other to `out` and their sizes to `directory`; returns
/// their total size. `out` must have 12 bits for each symbol and 64 more bytes.
class HuffmanEncoder {
 public:
  explicit HuffmanEncoder(const CodeLengths& lengths);
  std::size_t encode_segment(Symbols symbols, std::uint8_t* directory, std::uint8_t* out) const;

  /// For each symbol, its code in the low 16 bits, and the code's length above.
  [[nodiscard]] std::span<const std::uint32_t, 256> codes() const { return code_; }

 private:
  std::uint32_t code_[256];
};

/// Decodes segments. Never reads beyond `readable_end`, whatever the streams hold.
class HuffmanDecoder {
 public:
  /// Returns false if the lengths are not a complete code. `pairs` also builds the table that
  /// decodes two symbols in a step, which pays off for short codes and many symbols.
  [[nodiscard]] bool prepare(const CodeLengths& lengths, bool pairs);
  /// Returns false if the streams are damaged.
  [[nodiscard]] bool decode_segment(const BitStream (&streams)[stream_count],
                                    const std::uint8_t* readable_end, MutableSymbols symbols) const;

  /// For each value of the next bits, the symbol, and its code's length << 8.
  [[nodiscard]] std::span<const std::uint16_t, 1U << huffman_bits> singles() const {
    return single_;
  }

 private:
  bool pairs_ = false;
  std::uint16_t single_[1U << huffman_bits];
  /// First symbol, second symbol << 8, length of both codes << 16, number of symbols << 24.
  std::uint32_t pair_[1U << huffman_bits];
};

}  // namespace mcr::codecs::entropy
