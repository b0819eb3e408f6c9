// SPDX-License-Identifier: BSD-3-Clause
// If numbers are multiples of a common step, codes each as its number of steps. Such numbers are
// values rounded to hundredths, values unpacked from small integers or cut to some mantissa bits,
// and time stamps in a unit finer than the clock. The mapping is a bijection of all bit patterns,
// so that numbers that are not multiples are coded too. See spec.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "codecs/base/bytes.hpp"
#include "codecs/base/layout.hpp"

namespace mcr::codecs {

struct Multiples {
  enum class Form : std::uint8_t {
    step = 0,   ///< integers, or the bits of IEEE numbers as integers: base + k * step
    over = 1,   ///< IEEE numbers k / scale
    times = 2,  ///< IEEE numbers origin + k * scale
  };
  Form form = Form::step;
  std::uint64_t step = 1;
  std::uint64_t base = 0;  ///< less than the step
  double scale = 1;
  double origin = 0;
  /// Bits for the difference between a number and origin + k * scale, in units of the last place.
  unsigned slack = 0;

  bool operator==(const Multiples&) const = default;
};

/// True if `multiples` is possible for numbers of this type. The kernels below must not be called
/// otherwise.
bool fits(const Multiples& multiples, const ElementType& type);

/// Converts numbers to steps and back: `count` elements of `type`, integers or IEEE numbers in this
/// machine's byte order at any address. The ranges must be equal or disjoint. The caller must hold
/// a DefaultFloatEnvironment.
void multiples_encode(const Multiples& multiples, const ElementType& type, const std::byte* from,
                      std::size_t count, std::byte* to);
void multiples_decode(const Multiples& multiples, const ElementType& type, const std::byte* from,
                      std::size_t count, std::byte* to);

/// Returns the step that nearly all numbers of `raw` have in common. Returns no value if there is
/// none; a sample of 64 numbers mostly shows that. `reverse`: elements do not have this machine's
/// byte order.
std::optional<Multiples> find_multiples(const ElementType& type, ByteSpan raw, bool reverse);

}  // namespace mcr::codecs
