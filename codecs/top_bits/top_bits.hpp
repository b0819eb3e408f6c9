// SPDX-License-Identifier: BSD-3-Clause
// Splits each floating-point word into a symbol of 8 bits and the other bits, which are stored
// unchanged. The symbol stands for sign, exponent and the first mantissa bits. Made for values that
// their neighbours do not predict: of these, an order-0 code can use only the magnitudes. Up to 15
// exact values that occur often (zeros, floors) get symbols of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "codecs/base/bytes.hpp"

namespace mcr::codecs {

/// The meaning of the symbols: first the exact values, then the keys in ascending order. A key is
/// the top bits of a word. If there are more keys than symbols, the last symbol stands for a word
/// that is stored whole.
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

/// Returns the table for `count` words of `size` (2, 4 or 8) bytes. `counts` is working space for
/// 2^key_bits numbers. Exact values are searched for in a sample.
TopBitsTable top_bits_table(std::size_t size, unsigned key_bits, const std::byte* words,
                            std::size_t count, std::uint32_t* counts);
/// The same if `counts` already has how often each key occurs; reads only a sample of the words.
TopBitsTable top_bits_table_of(std::size_t size, unsigned key_bits, const std::byte* words,
                               std::size_t count, const std::uint32_t* counts);

std::size_t top_bits_rest_bound(std::size_t size, std::size_t count);

/// Writes one symbol for each word to `symbols`, and the other bits to `rest`, which has room for
/// top_bits_rest_bound() bytes. Returns the length of the rest. `map` is working space for
/// 2^key_bits numbers.
std::size_t top_bits_encode(std::size_t size, const TopBitsTable& table, const std::byte* words,
                            std::size_t count, std::uint16_t* map, std::uint8_t* symbols,
                            std::byte* rest);

/// The inverse; returns false if `rest` does not have exactly the length that the symbols require.
/// Reads and writes only inside the given ranges. The table must have at most 256 entries, with
/// keys below 2^key_bits.
[[nodiscard]] bool top_bits_decode(std::size_t size, const TopBitsTable& table,
                                   const std::uint8_t* symbols, std::size_t count, ByteSpan rest,
                                   std::byte* words);

}  // namespace mcr::codecs
