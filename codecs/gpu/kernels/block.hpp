// SPDX-License-Identifier: BSD-3-Clause
// How kernels are written, so that one source is both a kernel of an accelerator and plain C++.
//
// A kernel is a function of a Block, its shared memory and its arguments. It calls
// `block.each([&](unsigned t) { ... })` for each step between two barriers: on an accelerator, every
// thread runs the step once, and then waits for the others; as plain C++, a loop runs it for all
// threads. So a thread must not read in a step what another one writes in the same step, unless by
// the atomic functions below. What a thread keeps from one step to the next is a PerThread. Code
// outside of steps runs in every thread and must do the same in each.
//
// Arithmetic on floating-point numbers must be compiled without fused operations and with denormals
// (-fmad=false or -ffp-contract=off; make_ptx does so).
#pragma once

#include <cstdint>

#include "codecs/gpu/kernel_arguments.hpp"

#if defined(__CUDACC__) || defined(__CUDA__)
#define MCR_GPU_CODE 1
#else
#define MCR_GPU_CODE 0
#endif

#if MCR_GPU_CODE
#define MCR_DEVICE __host__ __device__ inline
#else
#define MCR_DEVICE inline
#endif

namespace mcr::codecs::gpu {

#if MCR_GPU_CODE

template <typename T>
struct PerThread {
  T value;
  MCR_DEVICE T& operator[](unsigned) { return value; }
};

struct Block {
  unsigned number;
  unsigned count;  ///< of blocks

  template <typename Step>
  __device__ void each(const Step& step) const {
    step(mcr_thread());
    mcr_barrier();
  }
};

#else

template <typename T>
struct PerThread {
  T values[k_block_threads];
  T& operator[](unsigned thread) { return values[thread]; }
};

/// The order in which a block's threads run a step: a permutation, or null for ascending order.
inline thread_local const std::uint8_t* thread_order = nullptr;

struct Block {
  unsigned number;
  unsigned count;  ///< of blocks

  template <typename Step>
  void each(const Step& step) const {
    for (unsigned i = 0; i < k_block_threads; ++i) step(thread_order == nullptr ? i : thread_order[i]);
  }
};

#endif

}  // namespace mcr::codecs::gpu
