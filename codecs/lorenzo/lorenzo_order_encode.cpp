// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/lorenzo/lorenzo.hpp"
#include "codecs/lorenzo/order_rows.hpp"

namespace mcr::codecs {
namespace {

template <typename A, int Order>
MCR_INLINE_LOOP void encode_row(const std::byte* row, const std::byte* expected,
                                std::size_t columns, std::byte* out) {
  using Number = typename A::Number;
  const auto base = [&](std::size_t i)
                        MCR_INLINE_LAMBDA { return expected ? at<Number>(expected, i) : A::zero; };
  const auto rest = [&](std::size_t i) MCR_INLINE_LAMBDA {
    const Number difference = A::minus(at<Number>(row, i), base(i));
    return A::regular(difference);
  };
  const auto put = [&](std::size_t i, Number prediction) MCR_INLINE_LAMBDA {
    store(out + i * sizeof(Number), A::residual(at<Number>(row, i), prediction));
  };
  put(0, base(0));
  if (columns > 1) put(1, continued<A, 1>(base(1), {rest(0)}));
  if constexpr (Order > 2) {
    if (columns > 2) put(2, continued<A, 2>(base(2), {rest(1), rest(0)}));
  }
  if constexpr (Order > 3) {
    if (columns > 3) put(3, continued<A, 3>(base(3), {rest(2), rest(1), rest(0)}));
  }
  for (std::size_t i = Order; i < columns; ++i) {
    put(i, continued<A, Order>(base(i), {rest(i - 1), rest(i - 2),
                                         Order > 2 ? rest(i - (Order > 2 ? 3 : 2)) : A::zero,
                                         Order > 3 ? rest(i - (Order > 3 ? 4 : 2)) : A::zero}));
  }
}

template <typename Call>
void with_arithmetic(std::size_t size, bool floating, const Call& call) {
  if (!floating) {
    return with_word(
        size, [&]<typename Word>(Word) { call.template operator()<IntegerArithmetic<Word>>(); });
  }
  if (size == 8) return call.template operator()<FloatingArithmetic<std::uint64_t>>();
  call.template operator()<FloatingArithmetic<std::uint32_t>>();
}

}  // namespace

void lorenzo_order_encode(std::size_t size, const LorenzoOrder& how, const LorenzoBox& box,
                          const std::byte* words, std::byte* memory, std::byte* residuals) {
  with_arithmetic(size, how.floating, [&]<typename A>() {
    run_box<A>(how, box, words, memory,
               [&]<int Order>(std::size_t offset, const std::byte* expected, std::size_t columns)
                   MCR_INLINE_LAMBDA {
                     encode_row<A, Order>(words + offset, expected, columns, residuals + offset);
                   });
  });
}

}  // namespace mcr::codecs
