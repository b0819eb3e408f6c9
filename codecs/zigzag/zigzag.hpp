// SPDX-License-Identifier: BSD-3-Clause
// Maps signed words to unsigned ones, so that words that are near zero become small. `from` and
// `to` may have any alignment; they must be the same memory or disjoint.
#pragma once

#include <cstddef>

namespace mcr::codecs {

/// {0, -1, 1, -2, 2} -> {0, 1, 2, 3, 4} for `count` words of `size` (1, 2, 4 or 8) bytes.
void zigzag_encode(std::size_t size, const std::byte* from, std::size_t count, std::byte* to);

/// The inverse.
void zigzag_decode(std::size_t size, const std::byte* from, std::size_t count, std::byte* to);

}  // namespace mcr::codecs
