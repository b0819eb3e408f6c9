// SPDX-License-Identifier: BSD-3-Clause
// The floating-point predictions and residuals. Encoder, decoder and estimator share this code, so
// that the order of operations is the same. Every result is stored in a variable, so that it is
// rounded to its type even if a compiler evaluates float expressions in double.
#pragma once

#include <bit>
#include <cfloat>

#include "codecs/base/cpu.hpp"
#include "codecs/base/integers.hpp"
#include "codecs/base/words.hpp"

#if FLT_EVAL_METHOD == 2
#error "x87 arithmetic rounds twice: compile with -mfpmath=sse"
#endif

namespace mcr::codecs {

template <typename Word>
using FloatOf = std::conditional_t<sizeof(Word) == 8, double, float>;

template <typename Word>
inline constexpr Word infinity_bits = static_cast<Word>(sizeof(Word) == 8 ? 0x7ff0000000000000
                                                                          : 0x7f800000);

/// Returns the prediction as an ordered integer. A NaN gives zero, because the bits of a NaN differ
/// between processors.
template <typename Word>
MCR_INLINE_LOOP Word ordered_prediction(FloatOf<Word> prediction) {
  const auto bits = std::bit_cast<Word>(prediction);
  const auto magnitude = static_cast<Word>(bits & static_cast<Word>(~sign_bit<Word>));
  using Signed = std::make_signed_t<Word>;
  const bool nan = static_cast<Signed>(magnitude) > static_cast<Signed>(infinity_bits<Word>);
  return ordered_from_float(nan ? Word{0} : bits);
}

template <typename Word>
MCR_INLINE_LOOP Word floating_residual(FloatOf<Word> number, FloatOf<Word> prediction) {
  return zigzag(static_cast<Word>(ordered_from_float(std::bit_cast<Word>(number)) -
                                  ordered_prediction<Word>(prediction)));
}

template <typename Word>
MCR_INLINE_LOOP FloatOf<Word> floating_number(Word residual, FloatOf<Word> prediction) {
  return std::bit_cast<FloatOf<Word>>(float_from_ordered(
      static_cast<Word>(unzigzag(residual) + ordered_prediction<Word>(prediction))));
}

/// Two dimensions: the left neighbour plus the step between the same columns in the row above.
template <typename Float>
MCR_INLINE_LOOP Float predict_2d(Float left, Float up, Float up_left) {
  const Float row_step = up - up_left;
  return left + row_step;
}

/// Three dimensions: `back_step` is back - back_left, `back_up_step` is back_up - back_up_left.
template <typename Float>
MCR_INLINE_LOOP Float predict_3d(Float left, Float up, Float up_left, Float back_step,
                                 Float back_up_step) {
  const Float row_step = up - up_left;
  const Float plane_step = back_step - back_up_step;
  const Float step = row_step + plane_step;
  return left + step;
}

}  // namespace mcr::codecs
