// SPDX-License-Identifier: BSD-3-Clause
// Numbers that are multiples of a common step, and what number of steps each is: values that were
// rounded to hundredths, unpacked from small integers or cut to some bits of mantissa, time stamps
// in a unit finer than the clock. Every pattern of bits has a number of its own, also those that are
// no multiple. spec.md.
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

/// True where `multiples` is one that numbers of this type can have; the kernels below take no
/// other.
bool fits(const Multiples& multiples, const ElementType& type);

/// Numbers to steps and back: `count` elements of `type`, integers or IEEE numbers in this machine's
/// byte order at any address. The ranges are equal or disjoint. IEEE arithmetic has to be that of
/// DefaultFloatEnvironment.
void multiples_encode(const Multiples& multiples, const ElementType& type, const std::byte* from,
                      std::size_t count, std::byte* to);
void multiples_decode(const Multiples& multiples, const ElementType& type, const std::byte* from,
                      std::size_t count, std::byte* to);

/// The step that nearly all numbers of `raw` have in common; no value where there is none, which 64
/// of them tell. `reverse`: elements lie in the other byte order than this machine's.
std::optional<Multiples> find_multiples(const ElementType& type, ByteSpan raw, bool reverse);

}  // namespace mcr::codecs
