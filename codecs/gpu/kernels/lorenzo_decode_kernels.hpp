// SPDX-License-Identifier: BSD-3-Clause
// The inverse of Lorenzo prediction.
//
// Integers of order 1 are running sums along each dimension, modulo 2^bits. The sums along rows come
// from one running sum of the whole frame: the sum up to a number, minus the sum up to the end of the
// row before. All other numbers wait for their neighbours: a block decodes a box in waves, the numbers
// of a wave being those whose plane, row and column add up to the same number.
#pragma once

#include "codecs/gpu/kernels/lorenzo_kernels.hpp"

namespace mcr::codecs::gpu {

MCR_DEVICE bool is_running_sum(const LorenzoBrick& brick) {
  return brick.floating == 0 && brick.order == 1;
}

/// 0: running sums of all residuals; 1: the sums along rows to write, elsewhere, for bricks that are
/// running sums; 2: count; 3: bytes of a word; 4: LorenzoBricks; 5: their count.
MCR_DEVICE void run_row_sums(const Block& block, NoShared&, const KernelArguments& a) {
  const auto* const bricks = pointer<const LorenzoBrick>(a, 4);
  for_word(a.words[3], [&]<typename Word>(Word) {
    const auto* const sums = pointer<const Word>(a, 0);
    auto* const to = pointer<Word>(a, 1);
    for_all(block, a.words[2], [&](std::uint64_t i) {
      const LorenzoBrick& brick = brick_of(bricks, a.words[5], i);
      if (!is_running_sum(brick)) return;
      const std::uint64_t start = brick.dimensions == 0 ? i : i - (i - brick.begin) % brick.columns;
      to[i] = static_cast<Word>(sums[i] - (start != 0 ? sums[start - 1] : 0));
    });
  });
}

/// 0: words, replaced by their sums along columns or, if 1 is not zero, along planes; 2 to 5: as
/// run_row_sums().
MCR_DEVICE void run_box_sums(const Block& block, NoShared&, const KernelArguments& a) {
  const auto* const bricks = pointer<const LorenzoBrick>(a, 4);
  const bool along_planes = a.words[1] != 0;
  for_word(a.words[3], [&]<typename Word>(Word) {
    auto* const words = pointer<Word>(a, 0);
    for_all(block, a.words[2], [&](std::uint64_t i) {
      const LorenzoBrick& brick = brick_of(bricks, a.words[5], i);
      if (!is_running_sum(brick) || brick.dimensions < (along_planes ? 3U : 2U)) return;
      const BoxPlace place = place_in(brick, i);
      if ((along_planes ? place.plane : place.row) != 0) return;
      const std::uint64_t count = along_planes ? brick.planes : brick.rows;
      const std::uint64_t step = along_planes ? brick.rows * brick.columns : brick.columns;
      Word sum = 0;
      for (std::uint64_t k = 0; k < count; ++k) {
        sum = static_cast<Word>(sum + words[i + k * step]);
        words[i + k * step] = sum;
      }
    });
  });
}

/// 0: words, of which those of running sums become IEEE numbers; 2 to 5: as run_row_sums().
MCR_DEVICE void run_to_floats(const Block& block, NoShared&, const KernelArguments& a) {
  const auto* const bricks = pointer<const LorenzoBrick>(a, 4);
  for_word(a.words[3], [&]<typename Word>(Word) {
    auto* const words = pointer<Word>(a, 0);
    for_all(block, a.words[2], [&](std::uint64_t i) {
      if (!is_running_sum(brick_of(bricks, a.words[5], i))) return;
      words[i] = float_from_ordered(words[i]);
    });
  });
}

/// A box that is decoded in waves.
struct WaveBox {
  std::uint64_t begin;  ///< number of its first word
  std::uint64_t brick;
};

/// Returns the word of a number from its residual and the words before it; `here` is its place.
template <typename Word>
MCR_DEVICE Word decode_number(const LorenzoBrick& brick, const Word* here, const BoxPlace& place,
                              Word residual, bool ordered) {
  if constexpr (sizeof(Word) >= 4) {
    using A = FloatingArithmetic<Word>;
    if (brick.floating != 0) {
      const NumbersBefore<A> before{here, brick.rows, brick.columns, ordered};
      const FloatOf<Word> prediction =
          brick.order > 1
              ? by_order<A>(reach_in(brick, place), before)
              : box_prediction<Word>(brick.dimensions, NumbersOrZeros<A>{before, place});
      return std::bit_cast<Word>(floating_number<Word>(residual, prediction));
    }
  }
  // (Integers of order 1 are running sums.)
  using A = IntegerArithmetic<Word>;
  const NumbersBefore<A> before{here, brick.rows, brick.columns, ordered};
  const auto number =
      static_cast<Word>(unzigzag(residual) + by_order<A>(reach_in(brick, place), before));
  return ordered ? float_from_ordered(number) : number;
}

/// 0: residuals; 1: words to write, elsewhere; 2: WaveBoxes, one for each block; 3: bytes of a word;
/// 4: LorenzoBricks; 5: not zero if the words are IEEE numbers.
MCR_DEVICE void run_lorenzo_waves(const Block& block, NoShared&, const KernelArguments& a) {
  const WaveBox& box = pointer<const WaveBox>(a, 2)[block.number];
  const LorenzoBrick& brick = pointer<const LorenzoBrick>(a, 4)[box.brick];
  const std::uint64_t lines = brick.planes * brick.rows;
  const std::uint64_t waves = brick.planes + brick.rows + brick.columns - 2;
  for_word(a.words[3], [&]<typename Word>(Word) {
    const auto* const residuals = pointer<const Word>(a, 0);
    auto* const words = pointer<Word>(a, 1);
    for (std::uint64_t wave = 0; wave < waves; ++wave) {
      block.each([&](unsigned thread) {
        for (std::uint64_t line = thread; line < lines; line += k_block_threads) {
          const std::uint64_t plane = line / brick.rows;
          const std::uint64_t row = line % brick.rows;
          if (wave < plane + row || wave - plane - row >= brick.columns) continue;
          const BoxPlace place{plane, row, wave - plane - row};
          const std::uint64_t index = box.begin + line * brick.columns + place.column;
          words[index] =
              decode_number<Word>(brick, words + index, place, residuals[index], a.words[5] != 0);
        }
      });
    }
  });
}

}  // namespace mcr::codecs::gpu

MCR_KERNEL(mcr_row_sums, run_row_sums, mcr::codecs::gpu::NoShared)
MCR_KERNEL(mcr_box_sums, run_box_sums, mcr::codecs::gpu::NoShared)
MCR_KERNEL(mcr_to_floats, run_to_floats, mcr::codecs::gpu::NoShared)
MCR_KERNEL(mcr_lorenzo_waves, run_lorenzo_waves, mcr::codecs::gpu::NoShared)
