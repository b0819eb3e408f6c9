// SPDX-License-Identifier: BSD-3-Clause
// One element for all.
#pragma once

#include <cstddef>

namespace mcr::codecs {

/// True where all of `count` elements of `size` bytes are equal, byte for byte; also for none.
bool is_constant(const std::byte* elements, std::size_t count, std::size_t size);

/// Writes `element` (`size` bytes, disjoint) `count` times.
void constant_decode(const std::byte* element, std::size_t size, std::size_t count, std::byte* to);

}  // namespace mcr::codecs
