// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/base/checksum_avx2.hpp"

#if MCR_HAVE_AVX2

#include <immintrin.h>

#include <climits>
#include <cstdlib>
#include <cstring>

// All functions of xxhash.h, which are static here, and those below get the attribute. The standard
// headers that it includes are included above, so that none of their inline functions gets it (see
// cpu.hpp).
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif

#define XXH_INLINE_ALL
#define XXH_VECTOR 2  // XXH_AVX2, which xxhash.h defines too late
#include <xxhash.h>

namespace mcr::detail {

std::uint64_t checksum_avx2(const void* data, std::size_t bytes) {
  return XXH3_64bits(data, bytes);
}

void add_to_checksum_avx2(void* state, const void* data, std::size_t bytes) {
  XXH3_64bits_update(static_cast<XXH3_state_t*>(state), data, bytes);
}

}  // namespace mcr::detail

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif
