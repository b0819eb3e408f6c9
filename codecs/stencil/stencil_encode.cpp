// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/base/float_environment.hpp"
#include "codecs/stencil/stencil.hpp"
#include "codecs/stencil/stencil_taps.hpp"

namespace mcr::codecs {
namespace {

using namespace stencil_detail;

template <typename Number>
void encode_brick(const Stencil& stencil, const Shape& brick, const std::byte* numbers,
                  std::byte* residuals) {
  using Word = WordOf<Number>;
  const Extents extents = extents_of(brick);
  const Taps& taps = taps_of(stencil.rank);
  const Offsets offsets = offsets_of(taps, extents);
  const bool fits = stencil_rank(brick) == stencil.rank;
  for_each_run(extents, margins_of(taps), fits,
               [&](std::size_t begin, std::size_t end, bool inner) {
                 for (std::size_t i = begin; i < end; ++i) {
                   const std::byte* number = numbers + i * sizeof(Word);
                   Word predicted = 0;
                   if (inner) {
                     predicted = predict<Number>(number, offsets, stencil.coefficients);
                   } else if (i > 0) {
                     predicted = load<Word>(number - sizeof(Word));
                   }
                   const Word difference =
                       ordered_from_float(load<Word>(number)) - ordered_from_float(predicted);
                   store(residuals + i * sizeof(Word), zigzag(difference));
                 }
               });
}

}  // namespace

void stencil_encode(const Stencil& stencil, const Layout& layout, const std::byte* numbers,
                    std::byte* residuals) {
  const DefaultFloatEnvironment environment;
  for (const Shape& brick : layout.bricks) {
    if (layout.type.size == 8) {
      encode_brick<double>(stencil, brick, numbers, residuals);
    } else {
      encode_brick<float>(stencil, brick, numbers, residuals);
    }
    numbers += brick.count() * layout.type.size;
    residuals += brick.count() * layout.type.size;
  }
}

}  // namespace mcr::codecs
