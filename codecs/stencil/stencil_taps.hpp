// SPDX-License-Identifier: BSD-3-Clause
// The places of the twelve taps, and which numbers of a brick have all twelve. Shared by fit,
// encoder and decoder.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "codecs/base/integers.hpp"
#include "codecs/base/words.hpp"
#include "codecs/stencil/stencil.hpp"

namespace mcr::codecs::stencil_detail {

/// Distance from a number to a tap: planes and rows back, and columns. All taps precede the number.
struct Tap {
  int plane, row, column;
};

using Taps = std::array<Tap, stencil_taps>;

constexpr Taps line_taps{{{0, 0, -1},
                          {0, 0, -2},
                          {0, 0, -3},
                          {0, 0, -4},
                          {0, 0, -5},
                          {0, 0, -6},
                          {0, 0, -7},
                          {0, 0, -8},
                          {0, 0, -9},
                          {0, 0, -10},
                          {0, 0, -11},
                          {0, 0, -12}}};
constexpr Taps plane_taps{{{0, 0, -1},
                           {0, 0, -2},
                           {0, 0, -3},
                           {0, -1, -2},
                           {0, -1, -1},
                           {0, -1, 0},
                           {0, -1, 1},
                           {0, -1, 2},
                           {0, -2, -1},
                           {0, -2, 0},
                           {0, -2, 1},
                           {0, -3, 0}}};
constexpr Taps space_taps{{{0, 0, -1},
                           {0, 0, -2},
                           {0, -1, -1},
                           {0, -1, 0},
                           {0, -1, 1},
                           {0, -2, 0},
                           {-1, 0, -1},
                           {-1, 0, 0},
                           {-1, 0, 1},
                           {-1, -1, 0},
                           {-1, 1, 0},
                           {-1, -1, -1}}};

constexpr const Taps& taps_of(unsigned rank) {
  return rank == 1 ? line_taps : rank == 2 ? plane_taps : space_taps;
}

/// How many numbers at each end of an axis lack a tap.
struct Margins {
  std::size_t planes_before = 0;
  std::size_t rows_before = 0, rows_after = 0;
  std::size_t columns_before = 0, columns_after = 0;
};

constexpr Margins margins_of(const Taps& taps) {
  Margins margins;
  for (const Tap& tap : taps) {
    const auto widen = [](std::size_t& before, std::size_t& after, int distance) {
      if (distance < 0) before = std::max(before, static_cast<std::size_t>(-distance));
      if (distance > 0) after = std::max(after, static_cast<std::size_t>(distance));
    };
    std::size_t none = 0;
    widen(margins.planes_before, none, tap.plane);
    widen(margins.rows_before, margins.rows_after, tap.row);
    widen(margins.columns_before, margins.columns_after, tap.column);
  }
  return margins;
}

/// A brick as planes of rows of columns. If it has more than three dimensions, the slowest ones are
/// folded.
struct Extents {
  std::size_t planes = 1, rows = 1, columns = 1;
};

constexpr unsigned stencil_rank(const Shape& brick) { return std::min<unsigned>(brick.rank, 3); }

constexpr Extents extents_of(const Shape& brick) {
  Extents extents;
  extents.columns = brick.extent[brick.rank - 1U];
  if (brick.rank >= 2) extents.rows = brick.extent[brick.rank - 2U];
  for (std::size_t axis = 0; axis + 2 < brick.rank; ++axis) extents.planes *= brick.extent[axis];
  return extents;
}

/// Distances of the taps in numbers, all negative.
using Offsets = std::array<std::ptrdiff_t, stencil_taps>;

inline Offsets offsets_of(const Taps& taps, const Extents& extents) {
  Offsets offsets{};
  const auto columns = static_cast<std::ptrdiff_t>(extents.columns);
  const auto rows = static_cast<std::ptrdiff_t>(extents.rows);
  for (std::size_t i = 0; i < stencil_taps; ++i) {
    offsets[i] = (taps[i].plane * rows + taps[i].row) * columns + taps[i].column;
  }
  return offsets;
}

/// Calls `run(begin, end, inner)` for runs of numbers of one brick, in order. Numbers of `inner`
/// runs have all taps. Indices count from the brick's first number.
template <typename Run>
void for_each_run(const Extents& extents, const Margins& margins, bool fits, Run&& run) {
  const auto inside = [](std::size_t i, std::size_t count, std::size_t before, std::size_t after) {
    return i >= before && i + after < count;
  };
  for (std::size_t plane = 0; plane < extents.planes; ++plane) {
    for (std::size_t row = 0; row < extents.rows; ++row) {
      const std::size_t begin = (plane * extents.rows + row) * extents.columns;
      const std::size_t end = begin + extents.columns;
      const bool inner = fits && plane >= margins.planes_before &&
                         inside(row, extents.rows, margins.rows_before, margins.rows_after) &&
                         extents.columns > margins.columns_before + margins.columns_after;
      if (!inner) {
        run(begin, end, false);
        continue;
      }
      run(begin, begin + margins.columns_before, false);
      run(begin + margins.columns_before, end - margins.columns_after, true);
      run(end - margins.columns_after, end, false);
    }
  }
}

template <typename Number>
using WordOf = std::conditional_t<sizeof(Number) == 8, std::uint64_t, std::uint32_t>;

/// Returns the sum of coefficient times tap, in double and in the order of the taps; a NaN counts
/// as 0.
template <typename Number>
WordOf<Number> predict(const std::byte* number, const Offsets& offsets,
                       const std::array<double, stencil_taps>& coefficients) {
  double sum = 0;
  for (std::size_t i = 0; i < stencil_taps; ++i) {
    const auto tap = load<Number>(number + offsets[i] * std::ptrdiff_t{sizeof(Number)});
    sum += coefficients[i] * static_cast<double>(tap);
  }
  const auto predicted = static_cast<Number>(sum);
  return std::bit_cast<WordOf<Number>>(std::isnan(predicted) ? Number{0} : predicted);
}

}  // namespace mcr::codecs::stencil_detail
