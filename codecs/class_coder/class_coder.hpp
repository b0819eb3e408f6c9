// SPDX-License-Identifier: BSD-3-Clause
// Unsigned words -> one symbol of 8 bits each (bit length and the bits below the leading one) and
// the remaining bits as they are. Small numbers get small rests: made for zigzagged residuals.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codecs/base/bytes.hpp"

namespace mcr::codecs {

/// Most bytes that class_pack writes for `count` words, working space included.
std::size_t class_rest_bound(std::size_t size, std::size_t count);

/// Splits `count` words of `size` (1, 2, 4 or 8) bytes: one symbol each to `symbols`, the rest bits
/// to `rest` (class_rest_bound() long). Answers the length of the rest.
std::size_t class_encode(std::size_t size, const std::byte* words, std::size_t count,
                         std::uint8_t* symbols, std::byte* rest);

/// The inverse; false where `rest` is not exactly what the symbols ask for. Nothing outside the
/// ranges is touched, whatever they hold.
[[nodiscard]] bool class_decode(std::size_t size, const std::uint8_t* symbols, std::size_t count,
                                ByteSpan rest, std::byte* words);

}  // namespace mcr::codecs
