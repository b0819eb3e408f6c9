// SPDX-License-Identifier: BSD-3-Clause
// The words of CUDA and HIP that mean the same in both, for clang without the vendors' headers. A prelude
// includes this file after it has defined MCR_THREAD_INDEX, MCR_BLOCK_INDEX and MCR_GRID_SIZE, which are
// what clang reads each of them by.
#pragma once

#include <cstdlib>  // which clang's own header <new> needs

#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))

struct McrThreadIndex {
  __declspec(property(get = get_x)) unsigned x;
  static inline __device__ unsigned get_x() { return MCR_THREAD_INDEX; }
};
struct McrBlockIndex {
  __declspec(property(get = get_x)) unsigned x;
  static inline __device__ unsigned get_x() { return MCR_BLOCK_INDEX; }
};
struct McrGridSize {
  __declspec(property(get = get_x)) unsigned x;
  static inline __device__ unsigned get_x() { return MCR_GRID_SIZE; }
};
extern const __device__ __attribute__((weak)) McrThreadIndex threadIdx;
extern const __device__ __attribute__((weak)) McrBlockIndex blockIdx;
extern const __device__ __attribute__((weak)) McrGridSize gridDim;
