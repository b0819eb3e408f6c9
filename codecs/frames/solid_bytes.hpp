// SPDX-License-Identifier: BSD-3-Clause
// How a solid frame begins; the same two bytes as every frame, and a kind of its own.
#pragma once

#include <cstdint>

namespace mcr::codecs::solid {

inline constexpr std::uint8_t magic = 0x6d;
inline constexpr std::uint8_t kind = 2;

}  // namespace mcr::codecs::solid
