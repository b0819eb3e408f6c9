// SPDX-License-Identifier: BSD-3-Clause
// Which symbol each tANS state represents. Encoder and decoder both use this rule. See spec.md,
// "tANS".
#pragma once

#include "codecs/entropy/tans.hpp"

namespace mcr::codecs::entropy {

/// Fills 2^bits entries. The counts must sum up to 2^bits.
inline void spread_states(const StateCounts& counts, std::uint8_t* symbols) {
  const std::uint32_t size = 1U << counts.bits;
  const std::uint32_t step = (size >> 1) + (size >> 3) + 3;  // odd, so that it visits every state
  std::uint32_t position = 0;
  for (unsigned s = 0; s < 256; ++s) {
    for (unsigned i = 0; i < counts.states[s]; ++i) {
      symbols[position] = static_cast<std::uint8_t>(s);
      position = (position + step) & (size - 1);
    }
  }
}

}  // namespace mcr::codecs::entropy
