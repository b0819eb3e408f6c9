// SPDX-License-Identifier: BSD-3-Clause
// An array of equal elements, stored as one element.
#pragma once

#include <cstddef>

namespace mcr::codecs {

/// True if all `count` elements of `size` bytes are equal, byte for byte; also if `count` is 0.
bool is_constant(const std::byte* elements, std::size_t count, std::size_t size);

/// Writes `element` (`size` bytes, disjoint) `count` times.
void constant_decode(const std::byte* element, std::size_t size, std::size_t count, std::byte* to);

}  // namespace mcr::codecs
