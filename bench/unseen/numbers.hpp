// SPDX-License-Identifier: BSD-3-Clause
// Numbers for made-up checkpoints. They are the same on every machine, because no function of a
// mathematical library is used, whose last bits may differ.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mcr::bench {

/// xorshift64*. Its numbers are random enough to be noise for any compressor.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15U + 0x1234567) {}

  std::uint64_t bits() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 0x2545f4914f6cdd1dU;
  }
  std::uint64_t below(std::uint64_t limit) { return bits() % limit; }
  /// In [0, 1).
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  /// Nearly Gaussian: the sum of twelve uniform numbers.
  double normal() {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += uniform();
    return sum;
  }

 private:
  std::uint64_t state_;
};

/// sin(2 pi x) within 1e-6. It is computed by a polynomial, so that it is the same on every
/// machine.
inline double wave(double x) {
  x -= static_cast<double>(static_cast<std::int64_t>(x));
  if (x < 0) x += 1;
  double sign = 1;
  if (x >= 0.5) {
    x -= 0.5;
    sign = -1;
  }
  if (x > 0.25) x = 0.5 - x;
  const double t = x * 6.283185307179586;
  const double s = t * t;
  return sign * t * (1 + s * (-1.0 / 6 + s * (1.0 / 120 + s * (-1.0 / 5040 + s * (1.0 / 362880)))));
}

/// exp(-x) for x >= 0, roughly, by repeated squaring of a short series.
inline double decay(double x) {
  if (x > 700) return 0;
  double t = 1 - x / 1024 + x * x / 2097152;
  for (int i = 0; i < 10; ++i) t *= t;
  return t;
}

/// A smooth field with structures of several sizes, and a bump.
inline double field(double x, double y, double z, unsigned number) {
  const double a = 0.37 * number;
  double value = wave(x + a) * wave(0.7 * y + 0.3 * a) + 0.5 * wave(2.3 * z + x - a) +
                 0.2 * wave(5.1 * x + 3.7 * y + 4.3 * z);
  const double dx = x - 0.5;
  const double dy = y - 0.4;
  const double dz = z - 0.6;
  value += 3 * decay(20 * (dx * dx + dy * dy + dz * dz));
  return value;
}

}  // namespace mcr::bench
