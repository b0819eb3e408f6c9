// SPDX-License-Identifier: BSD-3-Clause
// How kernels are written, so that one source is both a kernel of an accelerator and plain C++.
//
// A kernel is a function of a Block, its shared memory and its arguments. For each part between two
// barriers it calls `block.each([&](unsigned thread) { ... })`, which is called a step: on an
// accelerator, every thread runs the step once and then waits for the others; as plain C++, a loop
// runs the step for all threads. So in a step a thread must not read what another thread writes in
// the same step, unless both use the atomic functions below. What a thread keeps from one step to
// the next is a PerThread. Code outside of steps runs in every thread and must do the same in each.
//
// Addresses of arrays are multiples of their elements' size. Floating-point arithmetic must be
// compiled without fused operations and with denormals, as make_ptx does.
#pragma once

#include <cstdint>

#include "codecs/base/accelerator.hpp"
#include "codecs/gpu/kernel_arguments.hpp"

#if defined(MCR_KERNEL_THREADS)
#include <atomic>
#include <barrier>
#include <thread>
#include <vector>
#endif

#if MCR_ON_DEVICE
#define MCR_DEVICE __device__ inline __attribute__((always_inline))
#define MCR_DEVICE_CALL __device__ inline __attribute__((noinline))
#else
#define MCR_DEVICE inline
#define MCR_DEVICE_CALL inline
#endif

namespace mcr::codecs::gpu {

#if MCR_ON_DEVICE

template <typename T>
class PerThread {
 public:
  MCR_DEVICE T& operator[](unsigned) { return value_; }

 private:
  T value_;
};

struct Block {
  unsigned number;
  unsigned count;  ///< of blocks

  template <typename Step>
  MCR_DEVICE void each(const Step& step) const {
    step(threadIdx.x);
    __syncthreads();
  }
};

MCR_DEVICE std::uint32_t atomic_add(std::uint32_t* to, std::uint32_t value) {
  return atomicAdd(to, value);
}
MCR_DEVICE void atomic_or(std::uint32_t* to, std::uint32_t bits) { atomicOr(to, bits); }
/// Writes `value` if `*to` is `expected`. Returns what `*to` was.
MCR_DEVICE std::uint64_t atomic_replace(std::uint64_t* to, std::uint64_t expected,
                                        std::uint64_t value) {
  return atomicCAS(reinterpret_cast<unsigned long long*>(to), expected, value);
}
/// Reads what other threads may be writing by the functions above.
template <typename T>
MCR_DEVICE T atomic_load(T* from) {
  return *static_cast<volatile T*>(from);
}

#elif defined(MCR_KERNEL_THREADS)

// With a thread of the machine for each thread of a block, for the thread sanitizer, which finds races.

template <typename T>
class PerThread {
 public:
  T& operator[](unsigned) { return value_; }

 private:
  T value_;
};

struct Block {
  unsigned number;
  unsigned count;  ///< of blocks
  unsigned thread;
  std::barrier<>* barrier;

  template <typename Step>
  void each(const Step& step) const {
    step(thread);
    barrier->arrive_and_wait();
  }
};

inline std::uint32_t atomic_add(std::uint32_t* to, std::uint32_t value) {
  return std::atomic_ref(*to).fetch_add(value, std::memory_order_relaxed);
}
inline void atomic_or(std::uint32_t* to, std::uint32_t bits) {
  std::atomic_ref(*to).fetch_or(bits, std::memory_order_relaxed);
}
inline std::uint64_t atomic_replace(std::uint64_t* to, std::uint64_t expected,
                                    std::uint64_t value) {
  std::atomic_ref(*to).compare_exchange_strong(expected, value, std::memory_order_relaxed);
  return expected;
}
template <typename T>
T atomic_load(T* from) {
  return std::atomic_ref(*from).load(std::memory_order_relaxed);
}

/// Calls `run(block)` in all threads of a block.
template <typename Run>
void run_threads(unsigned number, unsigned count, const Run& run) {
  std::barrier<> barrier(k_block_threads);
  std::vector<std::jthread> threads;
  for (unsigned thread = 0; thread < k_block_threads; ++thread) {
    threads.emplace_back([&, thread] { run(Block{number, count, thread, &barrier}); });
  }
}

#else

template <typename T>
class PerThread {
 public:
  T& operator[](unsigned thread) { return values_[thread]; }

 private:
  T values_[k_block_threads];
};

/// The order in which a step runs a block's threads: a permutation, or null for ascending order.
inline thread_local const std::uint8_t* thread_order = nullptr;

struct Block {
  unsigned number;
  unsigned count;  ///< of blocks

  template <typename Step>
  void each(const Step& step) const {
    for (unsigned i = 0; i < k_block_threads; ++i) {
      step(thread_order == nullptr ? i : thread_order[i]);
    }
  }
};

// One queue runs one block at a time.
inline std::uint32_t atomic_add(std::uint32_t* to, std::uint32_t value) {
  const std::uint32_t before = *to;
  *to = before + value;
  return before;
}
inline void atomic_or(std::uint32_t* to, std::uint32_t bits) { *to |= bits; }
inline std::uint64_t atomic_replace(std::uint64_t* to, std::uint64_t expected,
                                    std::uint64_t value) {
  const std::uint64_t before = *to;
  if (before == expected) *to = value;
  return before;
}
template <typename T>
T atomic_load(T* from) {
  return *from;
}

#endif

/// Returns argument `index` as a pointer to T in the accelerator's memory.
template <typename T>
MCR_DEVICE T* pointer(const KernelArguments& arguments, unsigned index) {
  return reinterpret_cast<T*>(arguments.words[index]);
}

/// Calls `call(thread, index)` in a step for each index below `count`, spread over all blocks.
template <typename Call>
MCR_DEVICE void for_all(const Block& block, std::uint64_t count, const Call& call) {
  block.each([&](unsigned thread) {
    const std::uint64_t stride = std::uint64_t{block.count} * k_block_threads;
    std::uint64_t index = std::uint64_t{block.number} * k_block_threads + thread;
    for (; index < count; index += stride) call(index);
  });
}

/// Working memory of sum_before().
template <typename T>
struct SumMemory {
  T sums[2][k_block_threads];
};

/// Replaces each thread's value by the sum of the values of the threads before it; returns the sum
/// of all values.
template <typename T>
MCR_DEVICE T sum_before(const Block& block, SumMemory<T>& memory, PerThread<T>& values) {
  block.each([&](unsigned thread) { memory.sums[0][thread] = values[thread]; });
  unsigned from = 0;
  for (unsigned distance = 1; distance < k_block_threads; distance *= 2, from ^= 1) {
    block.each([&](unsigned thread) {
      const T sum = memory.sums[from][thread];
      memory.sums[from ^ 1][thread] =
          thread >= distance ? static_cast<T>(sum + memory.sums[from][thread - distance]) : sum;
    });
  }
  const T total = memory.sums[from][k_block_threads - 1];
  block.each([&](unsigned thread) {
    values[thread] = thread == 0 ? T{0} : memory.sums[from][thread - 1];
  });
  return total;
}

}  // namespace mcr::codecs::gpu

/// Defines the kernel `name` that runs `function(block, shared, arguments)`; `Shared` is the type of
/// the block's shared memory, whose contents are unspecified at first.
#if MCR_ON_DEVICE
#define MCR_KERNEL(name, function, Shared)                                                         \
  extern "C" __global__ void __launch_bounds__(256)                                                \
      name(mcr::codecs::gpu::KernelArguments arguments) {                                          \
    __shared__ Shared shared;                                                                      \
    mcr::codecs::gpu::function(mcr::codecs::gpu::Block{blockIdx.x, gridDim.x}, shared, arguments); \
  }
#elif defined(MCR_KERNEL_THREADS)
#define MCR_KERNEL(name, function, Shared)                                                  \
  inline void name(unsigned block, unsigned blocks,                                         \
                   const mcr::codecs::gpu::KernelArguments& arguments) {                    \
    Shared shared;                                                                          \
    __builtin_memset(static_cast<void*>(&shared), 0xa5, sizeof(shared));                    \
    mcr::codecs::gpu::run_threads(block, blocks, [&](const mcr::codecs::gpu::Block& here) { \
      mcr::codecs::gpu::function(here, shared, arguments);                                  \
    });                                                                                     \
  }
#else
#define MCR_KERNEL(name, function, Shared)                                                 \
  inline void name(unsigned block, unsigned blocks,                                        \
                   const mcr::codecs::gpu::KernelArguments& arguments) {                   \
    Shared shared;                                                                         \
    __builtin_memset(static_cast<void*>(&shared), 0xa5, sizeof(shared));                   \
    mcr::codecs::gpu::function(mcr::codecs::gpu::Block{block, blocks}, shared, arguments); \
  }
#endif
