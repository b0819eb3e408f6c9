// SPDX-License-Identifier: BSD-3-Clause
// Floating-point arithmetic as IEEE 754 defines it, whatever the program around us has set: round
// to nearest, denormals kept, no traps. Predictors need the same result in every process, and a
// program built with -ffast-math switches denormals off for the thread in which we decode.
#pragma once

#if defined(__x86_64__)
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

#include <cstdint>

namespace mcr {

/// Sets the mode; the destructor puts back what there was.
class IeeeMode {
 public:
#if defined(__x86_64__)
  IeeeMode() : before_(_mm_getcsr()) { _mm_setcsr(0x1f80); }
  ~IeeeMode() { _mm_setcsr(before_); }
#elif defined(__aarch64__)
  IeeeMode() {
    asm volatile("mrs %0, fpcr" : "=r"(before_));
    asm volatile("msr fpcr, %0" : : "r"(std::uint64_t{0}));
  }
  ~IeeeMode() { asm volatile("msr fpcr, %0" : : "r"(before_)); }
#else
  IeeeMode() {
    std::feholdexcept(&before_);
    std::fesetround(FE_TONEAREST);
  }
  ~IeeeMode() { std::fesetenv(&before_); }
#endif
  IeeeMode(const IeeeMode&) = delete;
  IeeeMode& operator=(const IeeeMode&) = delete;

 private:
#if defined(__x86_64__)
  unsigned before_;
#elif defined(__aarch64__)
  std::uint64_t before_;
#else
  std::fenv_t before_;
#endif
};

}  // namespace mcr
