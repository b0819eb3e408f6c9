// SPDX-License-Identifier: BSD-3-Clause
// Codes numbers that are multiples of a common step as the number of steps: values rounded to
// hundredths, unpacked from small integers or cut to some mantissa bits, and time stamps in a unit
// finer than the clock. The mapping is a bijection of all bit patterns, also of those that are not
// multiples. spec.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "codecs/base/bytes.hpp"
#include "codecs/base/layout.hpp"

namespace mcr::codecs {

struct Multiples {
  enum class Form : std::uint8_t {
    step = 0,   ///< integers, or IEEE bits as integers: base + k * step
    over = 1,   ///< IEEE numbers k / scale
    times = 2,  ///< IEEE numbers origin + k * scale
  };
  Form form = Form::step;
  std::uint64_t step = 1;
  std::uint64_t base = 0;  ///< less than the step
  double scale = 1;
  double origin = 0;
  unsigned slack = 0;  ///< bits for what a number differs from origin + k * scale, in last places

  bool operator==(const Multiples&) const = default;
};

/// True if numbers of this type can have `multiples`. The kernels below take no others.
bool fits(const Multiples& multiples, const ElementType& type);

/// Converts numbers to steps and back: `count` elements of `type`, integers or IEEE numbers in this
/// machine's byte order at any address. The ranges must be equal or disjoint. The caller must hold
/// a DefaultFloatEnvironment.
void multiples_encode(const Multiples& multiples, const ElementType& type, const std::byte* from,
                      std::size_t count, std::byte* to);
void multiples_decode(const Multiples& multiples, const ElementType& type, const std::byte* from,
                      std::size_t count, std::byte* to);

/// Returns the step that nearly all numbers of `raw` have in common; no value if there is none,
/// which a sample of 64 numbers shows. `reverse`: elements do not have this machine's byte order.
std::optional<Multiples> find_multiples(const ElementType& type, ByteSpan raw, bool reverse);

}  // namespace mcr::codecs
