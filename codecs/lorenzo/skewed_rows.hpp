// SPDX-License-Identifier: BSD-3-Clause
// The order in which several rows are decoded at once. A number waits for the one before it in its
// row, and for the numbers above it. So each row runs one column behind the row above, and the
// processor overlaps the chains of all rows.
#pragma once

#include <cstddef>

#include "codecs/base/cpu.hpp"

namespace mcr::codecs {

/// Calls `step(row, column)` for each number of `Rows` rows. Rows start one after the other, run
/// together, and end one after the other. At the call for a number, the number above it is the
/// newest one of the row above.
template <std::size_t Rows, typename Step>
MCR_INLINE_LOOP void run_skewed(std::size_t columns, const Step& step) {
  const std::size_t turns = columns + Rows - 1;
  std::size_t turn = 0;
  // Within a turn the lowest row goes first, because it needs what the row above produced in the
  // turn before.
  const auto ragged = [&] {
    for (std::size_t r = Rows; r-- > 0;) {
      if (turn >= r && turn - r < columns) step(r, turn - r);
    }
  };
  for (; turn < Rows - 1 && turn < turns; ++turn) ragged();
  for (; turn < columns; ++turn) {
    for (std::size_t k = 0; k < Rows; ++k) step(Rows - 1 - k, turn - (Rows - 1 - k));
  }
  for (; turn < turns; ++turn) ragged();
}

}  // namespace mcr::codecs
