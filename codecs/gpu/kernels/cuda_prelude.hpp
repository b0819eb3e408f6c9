// SPDX-License-Identifier: BSD-3-Clause
// The few words of CUDA that kernels use, for clang without the CUDA toolkit's headers
// (-nocudainc). NVIDIA's compiler knows them.
#pragma once

#if defined(__CUDA__) && defined(__clang__) && !defined(__CUDACC__) && !defined(__HIP__)

#include <cstdlib>  // which clang's own header <new> needs

#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __launch_bounds__(threads) __attribute__((launch_bounds(threads)))

struct McrThreadIndex {
  __declspec(property(get = get_x)) unsigned x;
  static inline __device__ unsigned get_x() { return __nvvm_read_ptx_sreg_tid_x(); }
};
struct McrBlockIndex {
  __declspec(property(get = get_x)) unsigned x;
  static inline __device__ unsigned get_x() { return __nvvm_read_ptx_sreg_ctaid_x(); }
};
struct McrGridSize {
  __declspec(property(get = get_x)) unsigned x;
  static inline __device__ unsigned get_x() { return __nvvm_read_ptx_sreg_nctaid_x(); }
};
extern const __device__ __attribute__((weak)) McrThreadIndex threadIdx;
extern const __device__ __attribute__((weak)) McrBlockIndex blockIdx;
extern const __device__ __attribute__((weak)) McrGridSize gridDim;

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
