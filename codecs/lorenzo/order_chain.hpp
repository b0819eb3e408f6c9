// SPDX-License-Identifier: BSD-3-Clause
// The chains along a row of orders above 1, as fast as the processor can follow them: a number is
// decoded from the numbers before it in its row.
#pragma once

#include "codecs/lorenzo/lorenzo_rows.hpp"
#include "codecs/lorenzo/order_formula.hpp"

namespace mcr::codecs {

/// Decodes a row of integers that are predicted by their row alone. The differences of orders 0 to
/// `Order` - 1 are running sums: a difference is the sum of all differences of the next order, and
/// a residual is a difference of order `Order`. A link of this chain is one addition for each order,
/// and these do not wait for one another. It is exact, because all additions are modulo 2^bits.
template <typename Word, int Order>
MCR_INLINE_LOOP void integer_row(const std::byte* residuals, std::size_t columns, std::byte* out) {
  Word differences[Order] = {};
  const auto step = [&](std::size_t i, int order) MCR_INLINE_LAMBDA {
    Word sum = unzigzag(at<Word>(residuals, i));
    for (int n = order; n-- > 0;) {
      sum = static_cast<Word>(sum + differences[n]);
      differences[n] = sum;
    }
    store(out + i * sizeof(Word), sum);
  };
  // The first residual is a number, the second one a difference of order 1, and so on.
  const std::size_t first = std::min<std::size_t>(Order - 1, columns);
  for (std::size_t i = 0; i < first; ++i) step(i, static_cast<int>(i) + 1);
  for (std::size_t i = first; i < columns; ++i) step(i, Order);
}

/// Arithmetic on vectors of which only the first element counts. The numbers of a chain stay in
/// vector registers: a move to a general register and back takes longer than three additions.
template <typename Word>
struct FirstOfVector {
  using Words [[gnu::vector_size(16)]] = Word;
  using Number [[gnu::vector_size(16)]] = FloatOf<Word>;
  static constexpr Number zero = {};

  MCR_INLINE_LOOP static Number plus(Number a, Number b) { return a + b; }
  MCR_INLINE_LOOP static Number minus(Number a, Number b) { return a - b; }
  MCR_INLINE_LOOP static Number of(Word bits) { return std::bit_cast<Number>(Words{bits}); }
  MCR_INLINE_LOOP static Word bits(Number a) { return std::bit_cast<Words>(a)[0]; }
  MCR_INLINE_LOOP static Number add_to_bits(Number a, Word difference) {
    return std::bit_cast<Number>(std::bit_cast<Words>(a) + Words{difference});
  }
};

/// Decodes a row of numbers that are predicted by their row alone. Each number is guessed to have
/// the sign of the number before. If prediction and number have that sign, the ordered difference
/// is added to the prediction's bits, or subtracted if the sign is negative.
template <typename Word, int Order>
MCR_INLINE_LOOP void floating_row(const std::byte* residuals, std::size_t columns, std::byte* out) {
  using A = FirstOfVector<Word>;
  std::array<typename A::Number, highest_order> last{};
  Word sign = 0;  // sign_mask() of the number before
  const auto is_special = [](Word bits) MCR_INLINE_LAMBDA {
    return (bits & infinity_bits<Word>) == infinity_bits<Word>;
  };
  const auto step = [&]<int Known>(std::size_t i) MCR_INLINE_LAMBDA {
    const auto residual = at<Word>(residuals, i);
    const auto difference = static_cast<Word>((unzigzag(residual) ^ sign) - sign);
    const auto prediction = continued<A, Known>(A::zero, last);
    auto number = A::add_to_bits(prediction, difference);
    const Word predicted = A::bits(prediction);
    Word bits = A::bits(number);
    const bool guessed = sign_mask(static_cast<Word>((predicted ^ sign) | (bits ^ sign))) == 0;
    if (!guessed || is_special(predicted) || is_special(bits)) [[unlikely]] {
      bits = std::bit_cast<Word>(
          floating_number<Word>(residual, std::bit_cast<FloatOf<Word>>(predicted)));
      sign = sign_mask(bits);
      number = A::of(is_special(bits) ? Word{0} : bits);
    }
    store(out + i * sizeof(Word), bits);
    last = {number, last[0], last[1], last[2]};
  };
  step.template operator()<0>(0);
  if (columns > 1) step.template operator()<1>(1);
  if (Order > 2 && columns > 2) step.template operator()<2>(2);
  if (Order > 3 && columns > 3) step.template operator()<3>(3);
  for (std::size_t i = Order; i < columns; ++i) step.template operator()<Order>(i);
}

}  // namespace mcr::codecs
