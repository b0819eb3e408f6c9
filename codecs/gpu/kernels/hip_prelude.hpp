// SPDX-License-Identifier: BSD-3-Clause
// The few words of HIP that kernels use, for clang without ROCm's headers (-nogpuinc). With ROCm's headers, `hipcc`
// knows them.
#pragma once

#if defined(__HIP__) && !defined(HIP_VERSION)

#include <cstdlib>  // which clang's own header <new> needs

#include "codecs/gpu/kernel_arguments.hpp"

#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __launch_bounds__(threads) __attribute__((amdgpu_flat_work_group_size(threads, threads)))

struct McrThreadIndex {
  __declspec(property(get = get_x)) unsigned x;
  static inline __device__ unsigned get_x() { return __builtin_amdgcn_workitem_id_x(); }
};
struct McrBlockIndex {
  __declspec(property(get = get_x)) unsigned x;
  static inline __device__ unsigned get_x() { return __builtin_amdgcn_workgroup_id_x(); }
};
struct McrGridSize {
  __declspec(property(get = get_x)) unsigned x;
  /// The packet of a launch has the threads of all blocks.
  static inline __device__ unsigned get_x() {
    return __builtin_amdgcn_grid_size_x() / mcr::codecs::gpu::k_block_threads;
  }
};
extern const __device__ __attribute__((weak)) McrThreadIndex threadIdx;
extern const __device__ __attribute__((weak)) McrBlockIndex blockIdx;
extern const __device__ __attribute__((weak)) McrGridSize gridDim;

/// Also for memory of the card that the block's threads share.
inline __device__ void __syncthreads() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

inline __device__ unsigned atomicAdd(unsigned* to, unsigned value) {
  return __hip_atomic_fetch_add(to, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
inline __device__ unsigned atomicOr(unsigned* to, unsigned bits) {
  return __hip_atomic_fetch_or(to, bits, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
inline __device__ unsigned long long atomicCAS(unsigned long long* to, unsigned long long expected,
                                               unsigned long long value) {
  __hip_atomic_compare_exchange_strong(to, &expected, value, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                       __HIP_MEMORY_SCOPE_AGENT);
  return expected;
}

#endif
