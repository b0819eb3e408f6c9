// SPDX-License-Identifier: BSD-3-Clause
// The few words of HIP that kernels use, for clang without ROCm's headers (-nogpuinc). With ROCm's headers, `hipcc`
// knows them.
#pragma once

#if defined(__HIP__) && !defined(HIP_VERSION)

#include "codecs/gpu/kernel_arguments.hpp"

#define MCR_THREAD_INDEX __builtin_amdgcn_workitem_id_x()
#define MCR_BLOCK_INDEX __builtin_amdgcn_workgroup_id_x()
// The packet of a launch has the threads of all blocks.
#define MCR_GRID_SIZE (__builtin_amdgcn_grid_size_x() / mcr::codecs::gpu::k_block_threads)
#include "codecs/gpu/kernels/clang_words.hpp"

#define __launch_bounds__(threads) __attribute__((amdgpu_flat_work_group_size(threads, threads)))

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
