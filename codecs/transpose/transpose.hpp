// SPDX-License-Identifier: BSD-3-Clause
// Byte transposition: element-major to byte-major and back. Byte b of element i goes to b * count +
// i. The ranges must not overlap, and may have any alignment.
#pragma once

#include <cstddef>

namespace mcr::codecs {

/// {a0 a1, b0 b1, c0 c1} -> {a0 b0 c0, a1 b1 c1} for elements of two bytes.
void transpose_encode(const std::byte* elements, std::size_t count, std::size_t element_bytes,
                      std::byte* planes);

/// The inverse.
void transpose_decode(const std::byte* planes, std::size_t count, std::size_t element_bytes,
                      std::byte* elements);

}  // namespace mcr::codecs
