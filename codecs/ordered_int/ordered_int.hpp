// SPDX-License-Identifier: BSD-3-Clause
// Numbers to unsigned integers in the same order. Any alignment; the ranges are equal or disjoint.
#pragma once

#include <cstddef>

namespace mcr::codecs {

/// IEEE bits of 2, 4 or 8 bytes: positive ones get the highest bit set, negative ones are inverted.
/// {-0.0, 0.0, 1.0} -> {7fff…, 8000…, bff0…}.
void ordered_float_encode(std::size_t size, const std::byte* from, std::size_t count,
                          std::byte* to);
void ordered_float_decode(std::size_t size, const std::byte* from, std::size_t count,
                          std::byte* to);

/// Two's complement of 1, 2, 4 or 8 bytes: the highest bit is inverted. Its own inverse.
void ordered_signed(std::size_t size, const std::byte* from, std::size_t count, std::byte* to);

}  // namespace mcr::codecs
