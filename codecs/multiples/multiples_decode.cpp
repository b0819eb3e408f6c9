// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "codecs/multiples/multiples_rule.hpp"

namespace mcr::codecs {

double most_steps(const Multiples& multiples, std::size_t size) {
  const int mantissa_bits = size == 8 ? 53 : 24;
  const double all = std::ldexp(1.0, mantissa_bits - 4 - static_cast<int>(multiples.slack));
  return std::floor(all - std::fabs(multiples.origin) / multiples.scale);
}

bool fits(const Multiples& multiples, const ElementType& type) {
  constexpr unsigned most_slack = 8;
  if (type.kind == ElementKind::bytes) return false;
  if (multiples.form == Multiples::Form::step) {
    const bool floating = type.kind == ElementKind::floating;
    const std::uint64_t half = std::uint64_t{1} << (type.size * 8 - (floating ? 2 : 1));
    return multiples.step >= 1 && multiples.step <= half && multiples.base < multiples.step;
  }
  // Between these bounds no product or quotient becomes infinite, or loses bits as a denormal.
  const int exponent = type.size == 8 ? 900 : 90;
  return type.kind == ElementKind::floating && type.size >= 4 && std::isfinite(multiples.scale) &&
         std::isfinite(multiples.origin) && multiples.scale >= std::ldexp(1.0, -exponent) &&
         multiples.scale <= std::ldexp(1.0, exponent) && multiples.slack <= most_slack &&
         most_steps(multiples, type.size) >= 1;
}

void multiples_decode(const Multiples& multiples, const ElementType& type, const std::byte* from,
                      std::size_t count, std::byte* to) {
  with_rule(multiples, type, [&](const auto& rule) {
    using Word = decltype(rule.decode(0));
    for (std::size_t i = 0; i < count; ++i) {
      store(to + i * sizeof(Word), rule.decode(load<Word>(from + i * sizeof(Word))));
    }
  });
}

}  // namespace mcr::codecs
