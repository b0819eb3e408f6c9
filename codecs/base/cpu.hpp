// SPDX-License-Identifier: BSD-3-Clause
// Chooses a kernel's variant at run time. Variants differ in speed only: their results are
// identical.
//
// A loop is written once, as an MCR_INLINE_LOOP function, and called through run_widest(). On
// x86-64, run_widest() may call the loop from a function with the AVX2 attribute, for which the
// compiler generates another version of the loop; otherwise it calls the loop directly. The
// attribute is set on functions and never on files: a file compiled with -mavx2 would give the
// linker AVX2 copies of inline library functions, and a machine without AVX2 might run those
// copies. FMA is not enabled, so that floating-point results cannot depend on the variant.
#pragma once

#include <atomic>

#include "codecs/base/accelerator.hpp"

#if MCR_ON_DEVICE
// Kernels of accelerators share formulas with the loops of the CPU.
#define MCR_INLINE_LOOP __host__ __device__ inline
#define MCR_INLINE_LAMBDA
#else
#define MCR_INLINE_LOOP [[gnu::always_inline]] inline
#define MCR_INLINE_LAMBDA __attribute__((always_inline))
#endif

#if defined(__x86_64__)
#define MCR_HAVE_AVX2 1
#else
#define MCR_HAVE_AVX2 0
#endif

namespace mcr::cpu {

namespace detail {
inline constinit std::atomic<bool> portable_only{false};
}

/// Disables the variants, so that tests can compare their results.
inline void use_portable_only(bool on) {
  detail::portable_only.store(on, std::memory_order_relaxed);
}

/// True if the AVX2 variants (with BMI1, BMI2, LZCNT) may run. LZCNT is not tested for: clang 14
/// cannot detect it, and every processor with BMI2 has it.
inline bool has_avx2() {
#if MCR_HAVE_AVX2
  if (detail::portable_only.load(std::memory_order_relaxed)) return false;
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
#else
  return false;
#endif
}

namespace detail {
#if MCR_HAVE_AVX2
template <typename Loop>
[[gnu::target("avx2,bmi,bmi2,lzcnt,popcnt")]] auto run_avx2(const Loop& loop) {
  return loop();
}
#endif
}  // namespace detail

/// Runs `loop` and returns its result. `loop` is a lambda marked MCR_INLINE_LAMBDA, so that it is
/// compiled for each variant.
template <typename Loop>
auto run_widest(const Loop& loop) {
#if MCR_HAVE_AVX2
  if (has_avx2()) return detail::run_avx2(loop);
#endif
  return loop();
}

}  // namespace mcr::cpu
