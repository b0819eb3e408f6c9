// SPDX-License-Identifier: BSD-3-Clause
// Residuals of points under predictors of an order above 1 (codecs/lorenzo). Such a predictor reads
// up to 26 numbers for each prediction, so only a few points are used to decide which of them is
// worth its cost.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "codecs/estimates/points.hpp"
#include "codecs/lorenzo/order_formula.hpp"

namespace mcr::codecs {

/// A prediction of an order above 1 along `axes` axes.
struct OrderedAxes {
  int axes;
  int order;
};
inline constexpr std::array orders_tried{OrderedAxes{1, 2}, OrderedAxes{1, 3}, OrderedAxes{1, 4},
                                         OrderedAxes{2, 2}, OrderedAxes{3, 2}};

/// Calls `take(point, difference)` for each point of a run, with the point's exact difference to
/// the prediction `how`. `read(index)` returns an element as a number of A.
template <typename A, typename Read, typename Take>
void order_differences(const OrderedAxes& how, const PointRun& run, const Read& read,
                       const Take& take) {
  const auto reach = [&how](int axis, std::uint64_t before) {
    const auto most = static_cast<std::uint64_t>(how.order);
    return how.axes < axis ? 0 : static_cast<int>(std::min(most, before));
  };
  const auto back = [](int steps, std::uint64_t step) {
    return static_cast<std::uint64_t>(steps) * step;
  };
  for (std::size_t i = 0; i < run.count; ++i) {
    const std::uint64_t index = run.index + i * run.column_step;
    const auto at = [&](int dz, int dy, int dx) {
      return read(index - back(dz, run.plane_step) - back(dy, run.row_step) -
                  back(dx, run.column_step));
    };
    const Reach before{reach(3, run.planes), reach(2, run.rows), reach(1, run.columns + i)};
    take(run.begin + i, unzigzag(A::residual(at(0, 0, 0), predicted_by_order<A>(before, at))));
  }
}

/// If a few runs of points show that an order above 1 is better than order 1 (`delta`), writes the
/// differences of the best such order to `differences` and returns true.
template <typename A, typename Read>
bool best_order(const std::vector<PointRun>& runs, std::size_t axes,
                const std::vector<typename A::Word>& delta, const Read& read,
                std::vector<typename A::Word>& differences) {
  using Word = typename A::Word;
  constexpr std::size_t few = 16;
  const std::size_t step = std::max<std::size_t>(1, runs.size() / few);
  const auto length = [](Word difference) {
    return static_cast<std::uint64_t>(std::bit_width(zigzag(difference)));
  };
  std::uint64_t least = 0;
  for (std::size_t r = 0; r < runs.size(); r += step) {
    for (std::size_t i = 0; i < runs[r].count; ++i) least += length(delta[runs[r].begin + i]);
  }
  const OrderedAxes* best = nullptr;
  for (const OrderedAxes& how : orders_tried) {
    if (static_cast<std::size_t>(how.axes) > axes) continue;
    std::uint64_t sum = 0;
    for (std::size_t r = 0; r < runs.size(); r += step) {
      order_differences<A>(how, runs[r], read,
                           [&](std::size_t, Word difference) { sum += length(difference); });
    }
    if (sum >= least) continue;
    least = sum;
    best = &how;
  }
  if (best == nullptr) return false;
  differences.resize(delta.size());
  for (const PointRun& run : runs) {
    order_differences<A>(*best, run, read, [&](std::size_t point, Word difference) {
      differences[point] = difference;
    });
  }
  return true;
}

}  // namespace mcr::codecs
