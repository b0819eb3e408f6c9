// SPDX-License-Identifier: BSD-3-Clause
// Orders above 1, row by row. The predictions of a row from the rows and planes before (T and Q of
// spec.md) do not depend on the row itself, so they are computed for the whole row at once. Only
// the last step is a chain along the row.
#include <utility>

#include "codecs/lorenzo/lorenzo.hpp"
#include "codecs/lorenzo/lorenzo_rows.hpp"
#include "codecs/lorenzo/order_formula.hpp"

namespace mcr::codecs {
namespace {

template <typename T>
MCR_INLINE_LOOP T at(const std::byte* row, std::size_t i) {
  return load<T>(row + i * sizeof(T));
}

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

template <typename A, int Order>
MCR_INLINE_LOOP void decode_row(const std::byte* residuals, const std::byte* expected,
                                std::size_t columns, std::byte* out) {
  using Number = typename A::Number;
  std::array<Number, highest_order> last{};
  const auto step = [&]<int Known>(std::size_t i) MCR_INLINE_LAMBDA {
    const Number base = expected ? at<Number>(expected, i) : A::zero;
    const Number prediction = continued<A, Known>(base, last);
    const Number number = A::next_number(at<typename A::Word>(residuals, i), prediction);
    store(out + i * sizeof(Number), number);
    const Number rest = A::mostly_regular(A::minus(number, base));
    last = {rest, last[0], last[1], last[2]};
  };
  step.template operator()<0>(0);
  if (columns > 1) step.template operator()<1>(1);
  if (Order > 2 && columns > 2) step.template operator()<2>(2);
  if (Order > 3 && columns > 3) step.template operator()<3>(3);
  for (std::size_t i = Order; i < columns; ++i) step.template operator()<Order>(i);
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

void lorenzo_order_decode(std::size_t size, const LorenzoOrder& how, const LorenzoBox& box,
                          const std::byte* residuals, std::byte* memory, std::byte* words) {
  with_arithmetic(size, how.floating, [&]<typename A>() {
    run_box<A>(how, box, words, memory,
               [&]<int Order>(std::size_t offset, const std::byte* expected, std::size_t columns)
                   MCR_INLINE_LAMBDA {
                     decode_row<A, Order>(residuals + offset, expected, columns, words + offset);
                   });
  });
}

}  // namespace mcr::codecs
