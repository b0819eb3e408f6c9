// SPDX-License-Identifier: BSD-3-Clause
// Orders above 1, row by row. The predictions of a row from the rows and planes before (T and Q of
// spec.md) do not depend on the row itself, so they are computed for the whole row at once. Only
// the last step is a chain along the row.
#pragma once

#include <utility>

#include "codecs/lorenzo/lorenzo_rows.hpp"
#include "codecs/lorenzo/order_formula.hpp"

namespace mcr::codecs {

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
    const Number by_planes =
        continued<A, Planes>(A::zero, {Planes > 0 ? at<Number>(back, i) : A::zero,
                                       Planes > 1 ? at<Number>(back_back, i) : A::zero});
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

/// Codes all of a box. `run(row's offset, expected, columns)` codes a row, after which `words`
/// holds it.
template <typename A, int Dimensions, typename RunRow>
MCR_INLINE_LOOP void run_rows(const LorenzoBox& folded, const std::byte* words, std::byte* memory,
                              const RunRow& run) {
  const std::size_t row_bytes = folded.columns * sizeof(typename A::Number);
  const std::size_t plane_bytes = folded.rows * row_bytes;
  std::size_t offset = 0;
  for (std::size_t volume = 0; volume < folded.volumes; ++volume) {
    for (std::size_t plane = 0; plane < folded.planes; ++plane) {
      Rows rows{memory, memory + row_bytes, memory + 2 * row_bytes, memory + 3 * row_bytes};
      const int planes = static_cast<int>(std::min<std::size_t>(plane, 2));
      for (std::size_t row = 0; row < folded.rows; ++row, offset += row_bytes) {
        if constexpr (Dimensions == 1) {
          run(offset, nullptr, folded.columns);
        } else {
          const std::byte* const here = words + offset;
          expect_row<A>(planes, static_cast<int>(std::min<std::size_t>(row, 2)), rows,
                        planes > 0 ? here - plane_bytes : nullptr,
                        planes > 1 ? here - 2 * plane_bytes : nullptr, folded.columns);
          run(offset, rows.expected, folded.columns);
          keep_row<A>(rows, here, folded.columns);
        }
      }
    }
  }
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

/// Codes a box: `code.operator()<Order>(offset, expected, columns)` codes a row, after which
/// `words` holds it.
template <typename A, typename Code>
void run_box(const LorenzoOrder& how, const LorenzoBox& box, const std::byte* words,
             std::byte* memory, const Code& code) {
  const LorenzoBox folded = box_for(how.dimensions, box);
  if (folded.count() == 0) return;
  with_order(how.dimensions, how.order, [&]<int Dimensions, int Order>() {
    cpu::run_widest([&]() MCR_INLINE_LAMBDA {
      run_rows<A, Dimensions>(
          folded, words, memory,
          [&](std::size_t offset, const std::byte* expected, std::size_t columns)
              MCR_INLINE_LAMBDA { code.template operator()<Order>(offset, expected, columns); });
    });
  });
}

}  // namespace mcr::codecs
