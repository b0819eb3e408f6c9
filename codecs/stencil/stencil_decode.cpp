// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/base/float_environment.hpp"
#include "codecs/stencil/stencil.hpp"
#include "codecs/stencil/stencil_taps.hpp"

namespace mcr::codecs {
namespace {

using namespace stencil_detail;

template <typename Number>
void decode_brick(const Stencil& stencil, const Shape& brick, const std::byte* residuals,
                  std::byte* numbers) {
  using Word = WordOf<Number>;
  const Extents extents = extents_of(brick);
  const Taps& taps = taps_of(stencil.rank);
  const Offsets offsets = offsets_of(taps, extents);
  const bool fits = stencil_rank(brick) == stencil.rank;
  for_each_run(
      extents, margins_of(taps), fits, [&](std::size_t begin, std::size_t end, bool inner) {
        for (std::size_t i = begin; i < end; ++i) {
          std::byte* number = numbers + i * sizeof(Word);
          Word predicted = 0;
          if (inner) {
            predicted = predict<Number>(number, offsets, stencil.coefficients);
          } else if (i > 0) {
            predicted = load<Word>(number - sizeof(Word));
          }
          const Word difference = unzigzag(load<Word>(residuals + i * sizeof(Word)));
          store(number,
                float_from_ordered(static_cast<Word>(ordered_from_float(predicted) + difference)));
        }
      });
}

}  // namespace

void stencil_decode(const Stencil& stencil, const Layout& layout, const std::byte* residuals,
                    std::byte* numbers) {
  const DefaultFloatEnvironment environment;
  for (const Shape& brick : layout.bricks) {
    if (layout.type.size == 8) {
      decode_brick<double>(stencil, brick, residuals, numbers);
    } else {
      decode_brick<float>(stencil, brick, residuals, numbers);
    }
    numbers += brick.count() * layout.type.size;
    residuals += brick.count() * layout.type.size;
  }
}

}  // namespace mcr::codecs
