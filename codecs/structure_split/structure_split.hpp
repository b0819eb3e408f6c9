// SPDX-License-Identifier: BSD-3-Clause
// Converts an array of structures, whose members have one size, to a structure of arrays. The
// ranges must be disjoint, and may have any alignment.
#pragma once

#include <cstddef>

namespace mcr::codecs {

/// {x0 y0 z0, x1 y1 z1} -> {x0 x1, y0 y1, z0 z1} for `count` structures of `members` words of
/// `size` (1, 2, 4 or 8) bytes.
void structure_split_encode(std::size_t size, std::size_t members, const std::byte* from,
                            std::size_t count, std::byte* to);

/// The inverse.
void structure_split_decode(std::size_t size, std::size_t members, const std::byte* from,
                            std::size_t count, std::byte* to);

}  // namespace mcr::codecs
