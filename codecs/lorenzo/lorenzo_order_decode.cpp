// SPDX-License-Identifier: BSD-3-Clause
// Decoding is a chain along the row, as in lorenzo_decode.cpp. For integers, a link of the chain is
// one addition for each order. In floating point, four rows are decoded at once.
#include "codecs/lorenzo/lorenzo.hpp"
#include "codecs/lorenzo/order_rows.hpp"
#include "codecs/lorenzo/skewed_rows.hpp"

namespace mcr::codecs {
namespace {

/// Decodes a row of integers. `expected` is Q of spec.md, or null for zeros. The differences of
/// orders 0 to `Order` - 1 of what remains (R) are running sums: difference n is the sum of all
/// differences n + 1, and the residual is a difference of order `Order`. This is exact, because all
/// additions are modulo 2^bits.
template <typename Word, int Order>
MCR_INLINE_LOOP void integer_row(const std::byte* residuals, const std::byte* expected,
                                 std::size_t columns, std::byte* out) {
  Word differences[Order] = {};
  const auto step = [&](std::size_t i, int order) MCR_INLINE_LAMBDA {
    Word sum = unzigzag(at<Word>(residuals, i));
    for (int n = order; n-- > 0;) {
      sum = static_cast<Word>(sum + differences[n]);
      differences[n] = sum;
    }
    store(out + i * sizeof(Word),
          expected ? static_cast<Word>(sum + at<Word>(expected, i)) : sum);
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

/// Rows of a plane that are decoded at once, and what their predictions need.
struct RowGroup {
  const std::byte* residuals;
  std::byte* out;
  const std::byte* back;       ///< the first of the same rows in the plane before
  const std::byte* back_back;  ///< and in the plane before that one
  std::byte* up;               ///< G of the row above the group; afterwards G of its last row
  std::byte* up_up;            ///< the same of the row before that one
  bool top;                    ///< The group is the first of its plane.
};

/// Decodes `Rows` rows of order 2. In the first two rows and columns, order 2 is used instead of
/// orders 0 and 1: F2(q; 0, 0) is q, and F2(q; a, a) is q + a, because q is never -0.
template <typename A, int Planes, std::size_t Rows>
MCR_INLINE_LOOP void floating_rows(const RowGroup& group, std::size_t columns) {
  using Number = typename A::Number;
  const std::size_t row_bytes = columns * sizeof(Number);
  Number left[Rows] = {};       // R of each row's newest number
  Number left_left[Rows] = {};  // R of the number before
  Number rest[Rows] = {};       // G of the newest number
  Number above[Rows] = {};      // G of the number above the newest one
  const auto step = [&](std::size_t r, std::size_t i) MCR_INLINE_LAMBDA {
    const std::size_t column = i * sizeof(Number);
    const std::size_t offset = r * row_bytes + column;
    const Number by_planes = continued<A, Planes>(
        A::zero, {Planes > 0 ? load<Number>(group.back + offset) : A::zero,
                  Planes > 1 ? load<Number>(group.back_back + offset) : A::zero});
    const Number up = r == 0 ? load<Number>(group.up + column) : rest[r - 1];
    Number up_up = r == 0 ? load<Number>(group.up_up + column) : above[r - 1];
    if (r == 1 && group.top) up_up = up;
    const Number expected = continued<A, 2>(by_planes, {up, up_up});
    const Number prediction = continued<A, 2>(expected, {left[r], left_left[r]});
    const Number number =
        floating_number<typename A::Word>(load<typename A::Word>(group.residuals + offset), prediction);
    store(group.out + offset, number);
    const Number from_expected = A::regular(A::minus(number, expected));
    left_left[r] = i == 0 ? from_expected : left[r];
    left[r] = from_expected;
    rest[r] = A::regular(A::minus(number, by_planes));
    above[r] = up;
    if (r + 2 == Rows) store(group.up_up + column, rest[r]);
    if (r + 1 == Rows) {
      if (Rows == 1) store(group.up_up + column, group.top ? rest[r] : up);
      store(group.up + column, rest[r]);
    }
  };
  run_skewed<Rows>(columns, step);
}

template <typename A, int Dimensions>
MCR_INLINE_LOOP void floating_box(const LorenzoBox& folded, const std::byte* residuals,
                                  std::byte* memory, std::byte* out) {
  constexpr std::size_t at_once = 4;
  const std::size_t row_bytes = folded.columns * sizeof(typename A::Number);
  const std::size_t plane_bytes = folded.rows * row_bytes;
  for (std::size_t volume = 0; volume < folded.volumes; ++volume) {
    for (std::size_t plane = 0; plane < folded.planes; ++plane) {
      std::fill_n(memory, 2 * row_bytes, std::byte{0});
      const auto planes = Dimensions == 3 ? std::min<std::size_t>(plane, 2) : 0;
      for (std::size_t row = 0; row < folded.rows;) {
        const RowGroup group{residuals,
                             out,
                             planes > 0 ? out - plane_bytes : nullptr,
                             planes > 1 ? out - 2 * plane_bytes : nullptr,
                             memory,
                             memory + row_bytes,
                             row == 0};
        const std::size_t rows = folded.rows - row >= at_once ? at_once : 1;
        with_number<Dimensions == 3 ? 2 : 0>(static_cast<int>(planes), [&]<int Planes>()
                                                 MCR_INLINE_LAMBDA {
          if (rows == at_once) {
            floating_rows<A, Planes, at_once>(group, folded.columns);
          } else {
            floating_rows<A, Planes, 1>(group, folded.columns);
          }
        });
        row += rows;
        residuals += rows * row_bytes;
        out += rows * row_bytes;
      }
    }
  }
}

template <typename Word>
void decode_floating(const LorenzoOrder& how, const LorenzoBox& box, const std::byte* residuals,
                     std::byte* memory, std::byte* words) {
  using A = FloatingArithmetic<Word>;
  const LorenzoBox folded = box_for(how.dimensions, box);
  if (folded.count() == 0) return;
  with_order(how.dimensions, how.order, [&]<int Dimensions, int Order>() {
    cpu::run_widest([&]() MCR_INLINE_LAMBDA {
      if constexpr (Dimensions == 1) {
        floating_row<Word, Order>(residuals, folded.columns, words);
      } else {
        floating_box<A, Dimensions>(folded, residuals, memory, words);
      }
    });
  });
}

}  // namespace

void lorenzo_order_decode(std::size_t size, const LorenzoOrder& how, const LorenzoBox& box,
                          const std::byte* residuals, std::byte* memory, std::byte* words) {
  if (how.floating) {
    if (size == 8) return decode_floating<std::uint64_t>(how, box, residuals, memory, words);
    return decode_floating<std::uint32_t>(how, box, residuals, memory, words);
  }
  with_word(size, [&]<typename Word>(Word) {
    run_box<IntegerArithmetic<Word>>(
        how, box, words, memory,
        [&]<int Order>(std::size_t offset, const std::byte* expected, std::size_t columns)
            MCR_INLINE_LAMBDA {
              integer_row<Word, Order>(residuals + offset, expected, columns, words + offset);
            });
  });
}

}  // namespace mcr::codecs
