// SPDX-License-Identifier: BSD-3-Clause
// The checksum in AVX2 instructions, which are 1.3 to 1.6 times as fast as those of every x86-64.
// Call these functions only if cpu::has_avx2().
#pragma once

#include <cstddef>
#include <cstdint>

#include "codecs/base/cpu.hpp"

#if MCR_HAVE_AVX2
namespace mcr::detail {

std::uint64_t checksum_avx2(const void* data, std::size_t bytes);

/// `state` is an XXH3_state_t. Its layout does not depend on the instructions, so the sum may be
/// begun and ended by xxHash's other variants.
void add_to_checksum_avx2(void* state, const void* data, std::size_t bytes);

}  // namespace mcr::detail
#endif
