// SPDX-License-Identifier: BSD-3-Clause
// Splits unsigned words into one symbol of 8 bits each (the bit length and the bits below the
// leading one) and the remaining bits, which are stored unchanged. Small numbers have few remaining
// bits: made for zigzagged residuals.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codecs/base/bytes.hpp"

namespace mcr::codecs {

/// Returns the most bytes that class_encode writes for `count` words, working space included.
std::size_t class_rest_bound(std::size_t size, std::size_t count);

/// Splits `count` words of `size` (1, 2, 4 or 8) bytes: writes one symbol each to `symbols`, and
/// the remaining bits to `rest` (class_rest_bound() long). Returns the length of the rest.
std::size_t class_encode(std::size_t size, const std::byte* words, std::size_t count,
                         std::uint8_t* symbols, std::byte* rest);

/// The inverse. Returns false if `rest` does not have exactly the length that the symbols require.
/// Never reads or writes outside the ranges.
[[nodiscard]] bool class_decode(std::size_t size, const std::uint8_t* symbols, std::size_t count,
                                ByteSpan rest, std::byte* words);

}  // namespace mcr::codecs
