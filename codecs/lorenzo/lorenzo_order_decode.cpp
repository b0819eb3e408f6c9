// SPDX-License-Identifier: BSD-3-Clause
// Decoding of orders above 1. Along a row, each number waits for the one before it (order_chain.hpp).
// In two and three dimensions, integers are decoded row by row, because the sum along the row and
// the prediction from other rows can be added later. Numbers in floating point are decoded four
// rows at once, as with order 1 (lorenzo_decode.cpp).
#include "codecs/lorenzo/lorenzo.hpp"
#include "codecs/lorenzo/order_chain.hpp"
#include "codecs/lorenzo/order_rows.hpp"
#include "codecs/lorenzo/skewed_rows.hpp"

namespace mcr::codecs {
namespace {

template <typename A>
constexpr bool is_integer = std::is_same_v<A, IntegerArithmetic<typename A::Word>>;

constexpr std::size_t rows_at_once = 4;  // of floating point

/// Neighbouring rows of a plane, which are decoded at once, and what their predictions need.
///
/// In the first two rows and columns, F2 of spec.md takes the place of F0 and F1: F2(q; 0, 0) is q,
/// and F2(q; a, a) is q + a, because G and R are finite, and adding +0 changes only -0. q and q + a
/// are never -0: they are sums that begin with +0, and a sum is -0 only if both numbers are.
struct RowGroup {
  const std::byte* residuals;
  const std::byte* by_planes;  ///< T of the rows
  std::byte* up;               ///< G of the row above the group; afterwards G of its last row
  std::byte* up_up;            ///< the same of the row before that one
  bool top;                    ///< The group is the first of its plane; `up` and `up_up` are zeros.
  std::byte* out;
};

template <typename Word>
MCR_INLINE_LOOP void integer_group(const RowGroup& group, std::size_t columns) {
  using A = IntegerArithmetic<Word>;
  integer_row<Word, 2>(group.residuals, columns, group.out);
  for (std::size_t i = 0; i < columns; ++i) {
    const std::size_t column = i * sizeof(Word);
    const auto up = load<Word>(group.up + column);
    const auto up_up = load<Word>(group.up_up + column);
    const Word rest = continued<A, 2>(load<Word>(group.out + column), {up, up_up});
    store(group.out + column, A::plus(load<Word>(group.by_planes + column), rest));
    store(group.up_up + column, group.top ? rest : up);
    store(group.up + column, rest);
  }
}

/// `HasT`: there are planes before this one, so that T is not +0 everywhere. Numbers are converted
/// without branches, because in noise the signs of number and prediction often differ.
template <typename Word, bool HasT, std::size_t Rows>
MCR_INLINE_LOOP void floating_group(const RowGroup& group, std::size_t columns) {
  using A = FloatingArithmetic<Word>;
  using Float = FloatOf<Word>;
  const std::size_t row_bytes = columns * sizeof(Word);
  Float left[Rows] = {};       // R of each row's newest number
  Float left_left[Rows] = {};  // R of the number before
  Float rest[Rows] = {};       // G of the newest number
  Float above[Rows] = {};      // G of the number above the newest one
  const auto step = [&](std::size_t r, std::size_t i) MCR_INLINE_LAMBDA {
    const std::size_t column = i * sizeof(Word);
    const std::size_t offset = r * row_bytes + column;
    const Float by_planes = HasT ? load<Float>(group.by_planes + offset) : 0;
    const Float up = r == 0 ? load<Float>(group.up + column) : rest[r - 1];
    Float up_up = r == 0 ? load<Float>(group.up_up + column) : above[r - 1];
    if (r == 1 && group.top) up_up = up;
    const Float expected = continued<A, 2>(by_planes, {up, up_up});
    const Float prediction = continued<A, 2>(expected, {left[r], left_left[r]});
    const Float number = floating_number<Word>(load<Word>(group.residuals + offset), prediction);
    store(group.out + offset, number);
    const Float from_expected = A::regular(A::minus(number, expected));
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

template <typename A, int Planes>
MCR_INLINE_LOOP void decode_group(const RowGroup& group, std::size_t rows, std::size_t columns) {
  using Word = typename A::Word;
  if constexpr (is_integer<A>) {
    integer_group<Word>(group, columns);
  } else if (rows == rows_at_once) {
    floating_group<Word, (Planes > 0), rows_at_once>(group, columns);
  } else {
    floating_group<Word, (Planes > 0), 1>(group, columns);
  }
}

/// Decodes a plane after `Planes` planes; more than two count as two.
template <typename A, int Planes>
MCR_INLINE_LOOP void decode_plane(std::size_t rows_of_plane, std::size_t columns,
                                  const std::byte* residuals, std::byte* memory, std::byte* out) {
  using Word = typename A::Word;
  const std::size_t row_bytes = columns * sizeof(Word);
  const std::size_t plane_bytes = rows_of_plane * row_bytes;
  std::byte* const by_planes = memory + 2 * row_bytes;
  std::fill_n(memory, 3 * row_bytes, std::byte{0});
  for (std::size_t row = 0; row < rows_of_plane;) {
    const std::size_t rows =
        !is_integer<A> && rows_of_plane - row >= rows_at_once ? rows_at_once : 1;
    if constexpr (Planes > 0) {
      const std::size_t count = rows * columns;
      for (std::size_t i = 0; i < count; ++i) {
        store(by_planes + i * sizeof(Word),
              predicted_by_planes<A, Planes>(out - plane_bytes, out - Planes * plane_bytes, i));
      }
    }
    decode_group<A, Planes>({residuals, by_planes, memory, memory + row_bytes, row == 0, out}, rows,
                            columns);
    row += rows;
    residuals += rows * row_bytes;
    out += rows * row_bytes;
  }
}

template <typename A, int Dimensions>
MCR_INLINE_LOOP void decode_planes(const LorenzoBox& folded, const std::byte* residuals,
                                   std::byte* memory, std::byte* out) {
  const std::size_t plane_bytes = folded.rows * folded.columns * sizeof(typename A::Word);
  for (std::size_t volume = 0; volume < folded.volumes; ++volume) {
    for (std::size_t plane = 0; plane < folded.planes; ++plane) {
      constexpr int most = Dimensions == 3 ? 2 : 0;
      with_number<most>(static_cast<int>(std::min<std::size_t>(plane, most)),
                        [&]<int Planes>() MCR_INLINE_LAMBDA {
                          decode_plane<A, Planes>(folded.rows, folded.columns, residuals, memory,
                                                  out);
                        });
      residuals += plane_bytes;
      out += plane_bytes;
    }
  }
}

template <typename A>
void decode(const LorenzoOrder& how, const LorenzoBox& box, const std::byte* residuals,
            std::byte* memory, std::byte* words) {
  using Word = typename A::Word;
  const LorenzoBox folded = box_for(how.dimensions, box);
  if (folded.count() == 0) return;
  with_order(how.dimensions, how.order, [&]<int Dimensions, int Order>() {
    cpu::run_widest([&]() MCR_INLINE_LAMBDA {
      if constexpr (Dimensions > 1) {
        decode_planes<A, Dimensions>(folded, residuals, memory, words);
      } else if constexpr (is_integer<A>) {
        integer_row<Word, Order>(residuals, folded.columns, words);
      } else {
        floating_rows<Word, Order>({residuals, folded.columns, words}, {});
      }
    });
  });
}

template <typename Word>
void decode_two(int order, const LorenzoRow& first, const LorenzoRow& second) {
  with_order(1, order, [&]<int Dimensions, int Order>() {
    if constexpr (Dimensions == 1) {
      cpu::run_widest([&]() MCR_INLINE_LAMBDA { floating_rows<Word, Order>(first, second); });
    }
  });
}

}  // namespace

void lorenzo_order_decode(std::size_t size, const LorenzoOrder& how, const LorenzoBox& box,
                          const std::byte* residuals, std::byte* memory, std::byte* words) {
  with_arithmetic(size, how.floating,
                  [&]<typename A>() { decode<A>(how, box, residuals, memory, words); });
}

void lorenzo_order_decode_two(std::size_t size, int order, const LorenzoRow& first,
                              const LorenzoRow& second) {
  if (size == 8) return decode_two<std::uint64_t>(order, first, second);
  decode_two<std::uint32_t>(order, first, second);
}

}  // namespace mcr::codecs
