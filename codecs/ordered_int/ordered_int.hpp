// SPDX-License-Identifier: BSD-3-Clause
// Maps numbers to unsigned integers in the same order. The ranges may have any alignment, and are
// equal or disjoint.
#pragma once

#include <cstddef>

namespace mcr::codecs {

/// For IEEE numbers of 2, 4 or 8 bytes. Positive numbers get the highest bit set; negative numbers
/// are inverted. {-0.0, 0.0, 1.0} -> {7fff…, 8000…, bff0…}.
void ordered_float_encode(std::size_t size, const std::byte* from, std::size_t count,
                          std::byte* to);
void ordered_float_decode(std::size_t size, const std::byte* from, std::size_t count,
                          std::byte* to);

/// For integers of 1, 2, 4 or 8 bytes in two's complement. Inverts the highest bit, so it is its
/// own inverse.
void ordered_signed(std::size_t size, const std::byte* from, std::size_t count, std::byte* to);

}  // namespace mcr::codecs
