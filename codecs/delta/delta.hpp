// SPDX-License-Identifier: BSD-3-Clause
// Replaces each word by its difference to the word before it, modulo 2^bits; the first word stays.
// The ranges may have any alignment; they must be disjoint.
#pragma once

#include <cstddef>

namespace mcr::codecs {

/// {10, 12, 11} -> {10, 2, -1} for `count` words of `size` (1, 2, 4 or 8) bytes.
void delta_encode(std::size_t size, const std::byte* from, std::size_t count, std::byte* to);

/// The inverse.
void delta_decode(std::size_t size, const std::byte* from, std::size_t count, std::byte* to);

}  // namespace mcr::codecs
