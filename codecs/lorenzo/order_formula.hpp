// SPDX-License-Identifier: BSD-3-Clause
// Prediction of an order above 1 (spec.md): the formulas for both kinds of arithmetic, and the
// prediction of a single number. Every result is stored in a variable, as in lorenzo_formula.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "codecs/lorenzo/lorenzo_formula.hpp"

namespace mcr::codecs {

inline constexpr int highest_order = 4;      ///< of one dimension
inline constexpr int highest_box_order = 2;  ///< of two and three

/// Arithmetic on integers, modulo 2^bits. IEEE numbers are used as their ordered integers.
template <typename W>
struct IntegerArithmetic {
  using Word = W;
  using Number = W;
  static constexpr Number zero = 0;

  MCR_INLINE_LOOP static Number plus(Number a, Number b) { return static_cast<Word>(a + b); }
  MCR_INLINE_LOOP static Number minus(Number a, Number b) { return static_cast<Word>(a - b); }
  /// The function D of spec.md.
  MCR_INLINE_LOOP static Number regular(Number a) { return a; }
  MCR_INLINE_LOOP static Word residual(Number number, Number prediction) {
    return zigzag(minus(number, prediction));
  }
};

/// Arithmetic in binary32 or binary64.
template <typename W>
struct FloatingArithmetic {
  using Word = W;
  using Number = FloatOf<W>;
  static constexpr Number zero = 0;

  MCR_INLINE_LOOP static Number plus(Number a, Number b) {
    const Number sum = a + b;
    return sum;
  }
  MCR_INLINE_LOOP static Number minus(Number a, Number b) {
    const Number difference = a - b;
    return difference;
  }
  MCR_INLINE_LOOP static Number regular(Number a) {
    const auto bits = std::bit_cast<Word>(a);
    const bool special = (bits & infinity_bits<Word>) == infinity_bits<Word>;
    return std::bit_cast<Number>(special ? Word{0} : bits);
  }
  MCR_INLINE_LOOP static Word residual(Number number, Number prediction) {
    return floating_residual<Word>(number, prediction);
  }
};

/// Extrapolates the numbers of `last`, the nearest first, and adds `base`: the function F of
/// spec.md. Only few operations depend on the nearest number, because a decoder has only just
/// computed it.
template <typename A, int Order>
MCR_INLINE_LOOP typename A::Number continued(
    typename A::Number base, const std::array<typename A::Number, highest_order>& last) {
  using Number = typename A::Number;
  if constexpr (Order == 0) return base;
  const Number level = A::plus(base, last[0]);
  if constexpr (Order <= 1) return level;
  const Number first = A::minus(last[0], last[1]);
  const Number straight = A::plus(level, first);
  if constexpr (Order <= 2) return straight;
  const Number before = A::minus(last[1], last[2]);
  const Number second = A::minus(first, before);
  if constexpr (Order <= 3) return A::plus(straight, second);
  const Number second_before = A::minus(before, A::minus(last[2], last[3]));
  const Number third = A::minus(first, A::plus(before, second_before));
  return A::plus(straight, A::plus(second, third));
}

/// How many preceding numbers along each dimension predict a number; 0 for the first number.
struct Reach {
  int planes = 0;
  int rows = 0;
  int columns = 0;
};

/// Returns the prediction of one number. `at(dz, dy, dx)` is the number dz planes, dy rows and dx
/// columns before it.
template <typename A, int Planes, int Rows, int Columns, typename At>
MCR_INLINE_LOOP typename A::Number predicted_by_order(const At& at) {
  using Number = typename A::Number;
  const auto by_planes = [&](int dy, int dx) MCR_INLINE_LAMBDA {
    return continued<A, Planes>(
        A::zero, {Planes > 0 ? at(1, dy, dx) : A::zero, Planes > 1 ? at(2, dy, dx) : A::zero});
  };
  const auto row_rest = [&](int dy, int dx) MCR_INLINE_LAMBDA {
    if (dy > Rows) return A::zero;
    const Number difference = A::minus(at(0, dy, dx), by_planes(dy, dx));
    return A::regular(difference);
  };
  const auto by_rows = [&](int dx) MCR_INLINE_LAMBDA {
    return continued<A, Rows>(by_planes(0, dx), {row_rest(1, dx), row_rest(2, dx)});
  };
  const auto rest = [&](int dx) MCR_INLINE_LAMBDA {
    if (dx > Columns) return A::zero;
    const Number difference = A::minus(at(0, 0, dx), by_rows(dx));
    return A::regular(difference);
  };
  return continued<A, Columns>(by_rows(0), {rest(1), rest(2), rest(3), rest(4)});
}

/// Calls `call<number>()` with `number`, from 0 to `Most`, as a constant.
template <int Most, typename Call>
MCR_INLINE_LOOP auto with_number(int number, const Call& call) {
  if constexpr (Most > 0) {
    if (number < Most) return with_number<Most - 1>(number, call);
  }
  return call.template operator()<Most>();
}

template <typename A, typename At>
typename A::Number predicted_by_order(const Reach& reach, const At& at) {
  return with_number<highest_box_order>(reach.planes, [&]<int Planes>() {
    return with_number<highest_box_order>(reach.rows, [&]<int Rows>() {
      return with_number<highest_order>(reach.columns, [&]<int Columns>() {
        return predicted_by_order<A, Planes, Rows, Columns>(at);
      });
    });
  });
}

}  // namespace mcr::codecs
