// SPDX-License-Identifier: BSD-3-Clause
// Lorenzo prediction: each thread computes the residual of one number from its neighbours. The
// formulas are those of the CPU (codecs/lorenzo).
#pragma once

#include "codecs/gpu/kernels/block.hpp"
#include "codecs/gpu/kernels/word_kernels.hpp"
#include "codecs/lorenzo/order_formula.hpp"

namespace mcr::codecs::gpu {

/// Numbers that are predicted alike: boxes of `planes` x `rows` x `columns`, one after the other.
/// Dimensions that are not predicted are folded: with two, there is one plane; with one, one row.
struct LorenzoBrick {
  std::uint64_t begin;  ///< number of the brick's first word
  std::uint64_t planes;
  std::uint64_t rows;
  std::uint64_t columns;
  std::uint32_t dimensions;
  std::uint32_t order;
  std::uint32_t floating;  ///< not zero: predicts in floating point
};

/// The place of a number in its box.
struct BoxPlace {
  std::uint64_t plane;
  std::uint64_t row;
  std::uint64_t column;
};

MCR_DEVICE BoxPlace place_in(const LorenzoBrick& brick, std::uint64_t index) {
  const std::uint64_t row = (index - brick.begin) / brick.columns;
  return {row / brick.rows % brick.planes, row % brick.rows, (index - brick.begin) % brick.columns};
}

/// `at(dz, dy, dx)` is the neighbour, or zero outside of the box.
template <typename Word, typename At>
MCR_DEVICE Word integer_residual(unsigned dimensions, const At& at) {
  Word word = at(0, 0, 0);
  if (dimensions >= 1) word = static_cast<Word>(word - at(0, 0, 1));
  if (dimensions >= 2) word = static_cast<Word>(word - at(0, 1, 0) + at(0, 1, 1));
  if (dimensions >= 3) {
    word = static_cast<Word>(word - at(1, 0, 0) + at(1, 0, 1) + at(1, 1, 0) - at(1, 1, 1));
  }
  return zigzag(word);
}

/// The prediction in floating point, for two or three dimensions.
template <typename Word, typename At>
MCR_DEVICE FloatOf<Word> box_prediction(unsigned dimensions, const At& at) {
  using Float = FloatOf<Word>;
  if (dimensions == 2) return predict_2d<Float>(at(0, 0, 1), at(0, 1, 0), at(0, 1, 1));
  const Float back_step = at(1, 0, 0) - at(1, 0, 1);
  const Float back_up_step = at(1, 1, 0) - at(1, 1, 1);
  return predict_3d<Float>(at(0, 0, 1), at(0, 1, 0), at(0, 1, 1), back_step, back_up_step);
}

/// continued() for `count` numbers, which is known only now.
template <typename A, typename Numbers>
MCR_DEVICE typename A::Number continued_by(int count, typename A::Number base,
                                           const Numbers& last) {
  switch (count) {
    case 0:
      return base;
    case 1:
      return continued<A, 1>(base, last);
    case 2:
      return continued<A, 2>(base, last);
    case 3:
      return continued<A, 3>(base, last);
    default:
      return continued<A, 4>(base, last);
  }
}

/// The prediction of an order above 1, as predicted_by_order(), from `reach` numbers along each
/// dimension.
template <typename A, typename At>
MCR_DEVICE_CALL typename A::Number by_order(const Reach& reach, const At& at) {
  using Number = typename A::Number;
  using Last = std::array<Number, highest_order>;
  const auto by_planes = [&](int dy, int dx) {
    return continued_by<A>(reach.planes, A::zero,
                           Last{reach.planes > 0 ? at(1, dy, dx) : A::zero,
                                reach.planes > 1 ? at(2, dy, dx) : A::zero});
  };
  const auto row_rest = [&](int dy, int dx) {
    if (dy > reach.rows) return A::zero;
    const Number difference = A::minus(at(0, dy, dx), by_planes(dy, dx));
    return A::regular(difference);
  };
  const auto by_rows = [&](int dx) {
    return continued_by<A>(reach.rows, by_planes(0, dx), Last{row_rest(1, dx), row_rest(2, dx)});
  };
  const auto rest = [&](int dx) {
    if (dx > reach.columns) return A::zero;
    const Number difference = A::minus(at(0, 0, dx), by_rows(dx));
    return A::regular(difference);
  };
  return continued_by<A>(reach.columns, by_rows(0), Last{rest(1), rest(2), rest(3), rest(4)});
}

MCR_DEVICE int least_of(std::uint64_t before, std::uint32_t order) {
  return static_cast<int>(before < order ? before : order);
}
MCR_DEVICE Reach reach_in(const LorenzoBrick& brick, const BoxPlace& place) {
  return {brick.dimensions > 2 ? least_of(place.plane, brick.order) : 0,
          brick.dimensions > 1 ? least_of(place.row, brick.order) : 0,
          least_of(place.column, brick.order)};
}

/// The numbers around one number of a box. Only those that exist may be asked for.
template <typename A>
struct NumbersBefore {
  using Word = typename A::Word;
  using Number = typename A::Number;

  const Word* here;
  std::uint64_t rows;
  std::uint64_t columns;
  bool ordered;  ///< integers are those of IEEE numbers

  MCR_DEVICE Number operator()(int dz, int dy, int dx) const {
    const auto lines = static_cast<std::uint64_t>(dz) * rows + static_cast<std::uint64_t>(dy);
    const Word word = *(here - (lines * columns + static_cast<std::uint64_t>(dx)));
    if constexpr (std::is_same_v<Number, Word>) {
      return ordered ? ordered_from_float(word) : word;
    } else {
      return std::bit_cast<Number>(word);
    }
  }
};

/// The same, but numbers outside of the box are zeros.
template <typename A>
struct NumbersOrZeros {
  NumbersBefore<A> inside;
  BoxPlace place;

  MCR_DEVICE typename A::Number operator()(int dz, int dy, int dx) const {
    const bool exists = static_cast<std::uint64_t>(dz) <= place.plane &&
                        static_cast<std::uint64_t>(dy) <= place.row &&
                        static_cast<std::uint64_t>(dx) <= place.column;
    return exists ? inside(dz, dy, dx) : A::zero;
  }
};

template <typename A, bool HasOrder>
MCR_DEVICE typename A::Word lorenzo_residual(const LorenzoBrick& brick, const BoxPlace& place,
                                             const NumbersBefore<A>& inside) {
  if constexpr (HasOrder) {
    return A::residual(inside(0, 0, 0), by_order<A>(reach_in(brick, place), inside));
  } else {
    using Word = typename A::Word;
    const NumbersOrZeros<A> at{inside, place};
    if constexpr (std::is_same_v<typename A::Number, Word>) {
      return integer_residual<Word>(brick.dimensions, at);
    } else {
      return floating_residual<Word>(at(0, 0, 0), box_prediction<Word>(brick.dimensions, at));
    }
  }
}

/// Writes the residuals of the bricks of order 1 or, with `HasOrder`, those of the other bricks.
template <bool HasOrder>
MCR_DEVICE void run_lorenzo_of(const Block& block, const KernelArguments& a) {
  const auto* const bricks = pointer<const LorenzoBrick>(a, 4);
  for_word(a.words[3], [&]<typename Word>(Word) {
    const auto* const words = pointer<const Word>(a, 0);
    auto* const residuals = pointer<Word>(a, 1);
    const bool ordered = a.words[6] != 0;
    for_all(block, a.words[2], [&](std::uint64_t i) {
      const LorenzoBrick& brick = brick_of(bricks, a.words[5], i);
      if ((brick.order > 1) != HasOrder) return;
      const BoxPlace place = place_in(brick, i);
      if constexpr (sizeof(Word) >= 4) {
        using A = FloatingArithmetic<Word>;
        if (brick.floating != 0) {
          residuals[i] = lorenzo_residual<A, HasOrder>(
              brick, place, {words + i, brick.rows, brick.columns, ordered});
          return;
        }
      }
      using A = IntegerArithmetic<Word>;
      residuals[i] = lorenzo_residual<A, HasOrder>(brick, place,
                                                   {words + i, brick.rows, brick.columns, ordered});
    });
  });
}

/// 0: words to read; 1: residuals to write, elsewhere; 2: their count; 3: bytes of a word;
/// 4: LorenzoBricks, none of them empty; 5: their count; 6: not zero if the words are IEEE numbers.
MCR_DEVICE void run_lorenzo(const Block& block, NoShared&, const KernelArguments& a) {
  run_lorenzo_of<false>(block, a);
}
/// The same for bricks of an order above 1.
MCR_DEVICE void run_lorenzo_order(const Block& block, NoShared&, const KernelArguments& a) {
  run_lorenzo_of<true>(block, a);
}

}  // namespace mcr::codecs::gpu

MCR_KERNEL(mcr_lorenzo, run_lorenzo, mcr::codecs::gpu::NoShared)
MCR_KERNEL(mcr_lorenzo_order, run_lorenzo_order, mcr::codecs::gpu::NoShared)
