// SPDX-License-Identifier: BSD-3-Clause
// The predictions of a row from the rows and planes before (T and Q of spec.md) are computed for the
// whole row at once, then the predictions along the row.
#include <utility>

#include "codecs/lorenzo/lorenzo.hpp"
#include "codecs/lorenzo/order_rows.hpp"

namespace mcr::codecs {
namespace {

/// Rows in the caller's memory that are kept from one row of the box to the next.
struct Rows {
  std::byte* by_planes;  ///< T
  std::byte* expected;   ///< Q
  std::byte* up;         ///< G of the row above
  std::byte* up_up;      ///< G of the row above that one
};

/// Computes T and Q of a row. `back` and `back_back` are rows of the planes before.
template <typename A, int Planes, int Above>
MCR_INLINE_LOOP void expect_row(const Rows& rows, const std::byte* back, const std::byte* back_back,
                                std::size_t columns) {
  using Number = typename A::Number;
  for (std::size_t i = 0; i < columns; ++i) {
    const Number by_planes = predicted_by_planes<A, Planes>(back, back_back, i);
    const Number expected =
        continued<A, Above>(by_planes, {Above > 0 ? at<Number>(rows.up, i) : A::zero,
                                        Above > 1 ? at<Number>(rows.up_up, i) : A::zero});
    store(rows.by_planes + i * sizeof(Number), by_planes);
    store(rows.expected + i * sizeof(Number), expected);
  }
}

template <typename A>
MCR_INLINE_LOOP void expect_row(int planes, int above, const Rows& rows, const std::byte* back,
                                const std::byte* back_back, std::size_t columns) {
  with_number<highest_box_order>(planes, [&]<int Planes>() MCR_INLINE_LAMBDA {
    with_number<highest_box_order>(above, [&]<int Above>() MCR_INLINE_LAMBDA {
      expect_row<A, Planes, Above>(rows, back, back_back, columns);
    });
  });
}

/// Keeps a finished row for the rows below it.
template <typename A>
MCR_INLINE_LOOP void keep_row(Rows& rows, const std::byte* row, std::size_t columns) {
  using Number = typename A::Number;
  for (std::size_t i = 0; i < columns; ++i) {
    const Number rest = A::minus(at<Number>(row, i), at<Number>(rows.by_planes, i));
    store(rows.up_up + i * sizeof(Number), A::regular(rest));
  }
  std::swap(rows.up, rows.up_up);
}

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

template <typename A, int Dimensions, int Order>
MCR_INLINE_LOOP void encode_box(const LorenzoBox& folded, const std::byte* words, std::byte* memory,
                                std::byte* residuals) {
  const std::size_t row_bytes = folded.columns * sizeof(typename A::Number);
  const std::size_t plane_bytes = folded.rows * row_bytes;
  std::size_t offset = 0;
  for (std::size_t volume = 0; volume < folded.volumes; ++volume) {
    for (std::size_t plane = 0; plane < folded.planes; ++plane) {
      Rows rows{memory, memory + row_bytes, memory + 2 * row_bytes, memory + 3 * row_bytes};
      const int planes = static_cast<int>(std::min<std::size_t>(plane, 2));
      for (std::size_t row = 0; row < folded.rows; ++row, offset += row_bytes) {
        if constexpr (Dimensions == 1) {
          encode_row<A, Order>(words + offset, nullptr, folded.columns, residuals + offset);
        } else {
          const std::byte* const here = words + offset;
          expect_row<A>(planes, static_cast<int>(std::min<std::size_t>(row, 2)), rows,
                        planes > 0 ? here - plane_bytes : nullptr,
                        planes > 1 ? here - 2 * plane_bytes : nullptr, folded.columns);
          encode_row<A, Order>(here, rows.expected, folded.columns, residuals + offset);
          keep_row<A>(rows, here, folded.columns);
        }
      }
    }
  }
}

template <typename A>
void encode(const LorenzoOrder& how, const LorenzoBox& box, const std::byte* words,
            std::byte* memory, std::byte* residuals) {
  const LorenzoBox folded = box_for(how.dimensions, box);
  if (folded.count() == 0) return;
  with_order(how.dimensions, how.order, [&]<int Dimensions, int Order>() {
    cpu::run_widest([&]() MCR_INLINE_LAMBDA {
      encode_box<A, Dimensions, Order>(folded, words, memory, residuals);
    });
  });
}

}  // namespace

void lorenzo_order_encode(std::size_t size, const LorenzoOrder& how, const LorenzoBox& box,
                          const std::byte* words, std::byte* memory, std::byte* residuals) {
  with_arithmetic(size, how.floating,
                  [&]<typename A>() { encode<A>(how, box, words, memory, residuals); });
}

}  // namespace mcr::codecs
