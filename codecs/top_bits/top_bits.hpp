// SPDX-License-Identifier: BSD-3-Clause
// Floating-point words -> one symbol of 8 bits each for sign, exponent and the first mantissa bits
// together, and the other bits as they are. For values that no neighbour predicts: their magnitudes
// are all that an order-0 code can use. Up to 15 values that occur exactly and often (zeros,
// floors) get symbols of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "codecs/base/bytes.hpp"

namespace mcr::codecs {

/// Which symbol stands for what: exact values first, then keys (the top bits of a word, rising),
/// then, where there are more keys than symbols, one symbol for a word that is stored whole.
struct TopBitsTable {
  static constexpr std::size_t most_exact = 15;
  static constexpr unsigned most_key_bits = 16;

  unsigned key_bits = 0;
  std::vector<std::uint64_t> exact;
  std::vector<std::uint32_t> keys;
  bool escape = false;
};

/// Bits of sign and exponent in an IEEE number of `size` (2, 4 or 8) bytes.
constexpr unsigned sign_exponent_bits(std::size_t size) {
  return size == 8 ? 12 : size == 4 ? 9 : 6;
}

/// The table for `count` words of `size` (2, 4 or 8) bytes. `counts` is working space for
/// 2^key_bits numbers. Exact values are looked for in a sample.
TopBitsTable top_bits_table(std::size_t size, unsigned key_bits, const std::byte* words,
                            std::size_t count, std::uint32_t* counts);

std::size_t top_bits_rest_bound(std::size_t size, std::size_t count);

/// One symbol for each word to `symbols`, the rest to `rest` (top_bits_rest_bound() long); answers
/// the rest's length. `map` is working space for 2^key_bits numbers.
std::size_t top_bits_encode(std::size_t size, const TopBitsTable& table, const std::byte* words,
                            std::size_t count, std::uint16_t* map, std::uint8_t* symbols,
                            std::byte* rest);

/// The inverse; false where `rest` is not exactly what the symbols ask for. Nothing outside the
/// ranges is touched. The table has at most 256 entries, its keys are below 2^key_bits.
[[nodiscard]] bool top_bits_decode(std::size_t size, const TopBitsTable& table,
                                   const std::uint8_t* symbols, std::size_t count, ByteSpan rest,
                                   std::byte* words);

}  // namespace mcr::codecs
