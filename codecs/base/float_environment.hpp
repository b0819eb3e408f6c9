// SPDX-License-Identifier: BSD-3-Clause
// Makes floating-point arithmetic give the same bits in every process. Decoding runs inside
// programs that may have changed the rounding mode, the flushing of denormals (-ffast-math does) or
// trapping. Predictions must not depend on these settings, and the program must not see our
// exception flags.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace mcr {

/// While an object of this class lives, the IEEE 754 defaults hold: round to nearest even,
/// denormals kept, no traps.
class DefaultFloatEnvironment {
 public:
  DefaultFloatEnvironment(const DefaultFloatEnvironment&) = delete;
  DefaultFloatEnvironment& operator=(const DefaultFloatEnvironment&) = delete;
#if defined(__x86_64__)
  DefaultFloatEnvironment() : kept_(_mm_getcsr()) { _mm_setcsr(0x1f80); }
  ~DefaultFloatEnvironment() { _mm_setcsr(kept_); }

 private:
  unsigned kept_;
#elif defined(__aarch64__)
  DefaultFloatEnvironment() {
    asm volatile("mrs %0, fpcr\n\tmrs %1, fpsr" : "=r"(control_), "=r"(status_));
    asm volatile("msr fpcr, %0" : : "r"(std::uint64_t{0}));
  }
  ~DefaultFloatEnvironment() {
    asm volatile("msr fpcr, %0\n\tmsr fpsr, %1" : : "r"(control_), "r"(status_));
  }

 private:
  std::uint64_t control_ = 0;
  std::uint64_t status_ = 0;
#else
  DefaultFloatEnvironment() {
    std::fegetenv(&kept_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultFloatEnvironment() { std::fesetenv(&kept_); }

 private:
  std::fenv_t kept_;
#endif
};

}  // namespace mcr
