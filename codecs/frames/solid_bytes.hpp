// SPDX-License-Identifier: BSD-3-Clause
// The first bytes of a solid frame: two bytes that all frames share, then the kind of frame.
#pragma once

#include <cstdint>

namespace mcr::codecs::solid {

inline constexpr std::uint8_t magic = 0x6d;
inline constexpr std::uint8_t kind = 2;

}  // namespace mcr::codecs::solid
