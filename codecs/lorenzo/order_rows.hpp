// SPDX-License-Identifier: BSD-3-Clause
// What encoder and decoder of orders above 1 share.
#pragma once

#include "codecs/lorenzo/lorenzo_rows.hpp"
#include "codecs/lorenzo/order_formula.hpp"

namespace mcr::codecs {

/// Returns T of spec.md for number `i` of a row. `back` and `back_back` are the same row in the
/// planes before; only `Planes` of them exist.
template <typename A, int Planes>
MCR_INLINE_LOOP typename A::Number predicted_by_planes(const std::byte* back,
                                                       const std::byte* back_back, std::size_t i) {
  using Number = typename A::Number;
  return continued<A, Planes>(A::zero, {Planes > 0 ? at<Number>(back, i) : A::zero,
                                        Planes > 1 ? at<Number>(back_back, i) : A::zero});
}

/// Calls `call<Dimensions, Order>()`.
template <typename Call>
void with_order(int dimensions, int order, const Call& call) {
  if (dimensions >= 3) return call.template operator()<3, 2>();
  if (dimensions == 2) return call.template operator()<2, 2>();
  if (order == 2) return call.template operator()<1, 2>();
  if (order == 3) return call.template operator()<1, 3>();
  call.template operator()<1, 4>();
}

/// Calls `call<Arithmetic>()`.
template <typename Call>
void with_arithmetic(std::size_t size, bool floating, const Call& call) {
  if (!floating) {
    return with_word(
        size, [&]<typename Word>(Word) { call.template operator()<IntegerArithmetic<Word>>(); });
  }
  if (size == 8) return call.template operator()<FloatingArithmetic<std::uint64_t>>();
  call.template operator()<FloatingArithmetic<std::uint32_t>>();
}

}  // namespace mcr::codecs
