// SPDX-License-Identifier: BSD-3-Clause
// Orders above 1 along a row. Decoding is a chain: each number is computed from the one before it.
// The two kinds of arithmetic keep the chain short in different ways.
#pragma once

#include "codecs/lorenzo/lorenzo.hpp"
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

/// A row of floating-point numbers that are predicted by their row alone. Each number is guessed to
/// have the sign of the number before. If prediction and number have that sign, the ordered
/// difference is added to the prediction's bits, or subtracted if the sign is negative.
template <typename Word, int Order>
class FloatingChain {
 public:
  MCR_INLINE_LOOP explicit FloatingChain(const LorenzoRow& row) : row_(row) {}

  /// Decodes the first `Order` numbers, which lower orders predict.
  MCR_INLINE_LOOP void start() {
    if (row_.columns > 0) step<0>(0);
    if (row_.columns > 1) step<1>(1);
    if (Order > 2 && row_.columns > 2) step<2>(2);
    if (Order > 3 && row_.columns > 3) step<3>(3);
  }

  /// Decodes number `i`. `Known`: so many numbers before it predict it.
  template <int Known = Order>
  MCR_INLINE_LOOP void step(std::size_t i) {
    const auto residual = at<Word>(row_.residuals, i);
    const auto difference = static_cast<Word>((unzigzag(residual) ^ sign_) - sign_);
    const auto prediction = continued<A, Known>(A::zero, last_);
    auto number = A::add_to_bits(prediction, difference);
    const Word predicted = A::bits(prediction);
    Word bits = A::bits(number);
    const bool guessed = sign_mask(static_cast<Word>((predicted ^ sign_) | (bits ^ sign_))) == 0;
    if (!guessed || is_special(predicted) || is_special(bits)) [[unlikely]] {
      bits = std::bit_cast<Word>(
          floating_number<Word>(residual, std::bit_cast<FloatOf<Word>>(predicted)));
      sign_ = sign_mask(bits);
      number = A::of(is_special(bits) ? Word{0} : bits);
    }
    store(row_.numbers + i * sizeof(Word), bits);
    last_ = {number, last_[0], last_[1], last_[2]};
  }

 private:
  using A = FirstOfVector<Word>;
  MCR_INLINE_LOOP static bool is_special(Word bits) {
    return (bits & infinity_bits<Word>) == infinity_bits<Word>;
  }

  LorenzoRow row_;
  std::array<typename A::Number, highest_order> last_{};
  Word sign_ = 0;  // sign_mask() of the number before
};

/// Decodes two rows at once, so that the processor overlaps their chains. `second` may be empty.
template <typename Word, int Order>
MCR_INLINE_LOOP void floating_rows(const LorenzoRow& first, const LorenzoRow& second) {
  FloatingChain<Word, Order> a(first);
  FloatingChain<Word, Order> b(second);
  a.start();
  b.start();
  const std::size_t columns = first.columns;
  const std::size_t second_columns = second.columns;
  const std::size_t both = std::min(columns, second_columns);
  std::size_t i = Order;
  for (; i < both; ++i) {
    a.step(i);
    b.step(i);
  }
  for (std::size_t j = i; j < columns; ++j) a.step(j);
  for (std::size_t j = i; j < second_columns; ++j) b.step(j);
}

}  // namespace mcr::codecs
