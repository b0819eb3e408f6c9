// SPDX-License-Identifier: BSD-3-Clause
// The first bytes of a solid frame: the same two bytes as in every frame, then its own kind.
#pragma once

#include <cstdint>

namespace mcr::codecs::solid {

inline constexpr std::uint8_t magic = 0x6d;
inline constexpr std::uint8_t kind = 2;

}  // namespace mcr::codecs::solid
