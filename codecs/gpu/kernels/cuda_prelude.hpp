// SPDX-License-Identifier: BSD-3-Clause
// The few words of CUDA that kernels use, for clang without the CUDA toolkit's headers
// (-nocudainc). NVIDIA's compiler knows them.
#pragma once

#if defined(__CUDA__) && defined(__clang__) && !defined(__CUDACC__) && !defined(__HIP__)

#define MCR_THREAD_INDEX __nvvm_read_ptx_sreg_tid_x()
#define MCR_BLOCK_INDEX __nvvm_read_ptx_sreg_ctaid_x()
#define MCR_GRID_SIZE __nvvm_read_ptx_sreg_nctaid_x()
#include "codecs/gpu/kernels/clang_words.hpp"

#define __launch_bounds__(threads) __attribute__((launch_bounds(threads)))

inline __device__ unsigned atomicAdd(unsigned* to, unsigned value) {
  return __atomic_fetch_add(to, value, __ATOMIC_RELAXED);
}
inline __device__ unsigned atomicOr(unsigned* to, unsigned bits) {
  return __atomic_fetch_or(to, bits, __ATOMIC_RELAXED);
}
inline __device__ unsigned long long atomicCAS(unsigned long long* to, unsigned long long expected,
                                               unsigned long long value) {
  __atomic_compare_exchange_n(to, &expected, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return expected;
}

#endif
