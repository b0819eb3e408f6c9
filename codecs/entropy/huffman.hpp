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

/// Best lengths that the limit allows, but for a small loss where the limit cuts. Needs two
/// different symbols at least. The codes are complete: the sum of 2^-length is 1.
CodeLengths huffman_lengths(const Histogram& histogram);

/// Writes a segment's streams one behind the other to `out` and their sizes to `directory`; answers
/// their total. `out` has 12 bits for each symbol and 64 bytes more.
class HuffmanEncoder {
 public:
  explicit HuffmanEncoder(const CodeLengths& lengths);
  std::size_t encode_segment(Symbols symbols, std::uint8_t* directory, std::uint8_t* out) const;

 private:
  std::uint32_t code_[256];  ///< code in the low 16 bits, its length above
};

/// Decodes segments. Reading stays below `readable_end`, whatever the streams hold.
class HuffmanDecoder {
 public:
  /// False where the lengths are no complete code. `pairs`: also build the table that gives two
  /// symbols a step, which pays where codes are short and symbols many.
  [[nodiscard]] bool prepare(const CodeLengths& lengths, bool pairs);
  /// False where the streams are damaged.
  [[nodiscard]] bool decode_segment(const BitStream (&streams)[stream_count],
                                    const std::uint8_t* readable_end, MutableSymbols symbols) const;

 private:
  bool pairs_ = false;
  std::uint16_t single_[1U << huffman_bits];  ///< symbol, length << 8
  /// First symbol, second << 8, length of both << 16, how many << 24.
  std::uint32_t pair_[1U << huffman_bits];
};

}  // namespace mcr::codecs::entropy
