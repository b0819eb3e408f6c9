// SPDX-License-Identifier: BSD-3-Clause
// Splits each unsigned word into a symbol of 8 bits and the remaining bits, which are stored
// unchanged. The symbol has the word's bit length and the bits below the leading one. Made for
// zigzagged residuals, which are mostly small and then have few remaining bits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codecs/base/bytes.hpp"

namespace mcr::codecs {

/// Returns the most bytes that class_encode writes for `count` words, working space included.
std::size_t class_rest_bound(std::size_t size, std::size_t count);

/// Splits `count` words of `size` (1, 2, 4 or 8) bytes: writes one symbol for each word to
/// `symbols`, and the remaining bits to `rest`, which has room for class_rest_bound() bytes.
/// Returns the length of the rest.
std::size_t class_encode(std::size_t size, const std::byte* words, std::size_t count,
                         std::uint8_t* symbols, std::byte* rest);

/// The inverse. Returns false if `rest` does not have exactly the length that the symbols require.
/// Reads and writes only inside the given ranges.
[[nodiscard]] bool class_decode(std::size_t size, const std::uint8_t* symbols, std::size_t count,
                                ByteSpan rest, std::byte* words);

}  // namespace mcr::codecs
