// SPDX-License-Identifier: BSD-3-Clause
// Samples points of an array with their neighbours in up to three dimensions.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "codecs/base/bytes.hpp"
#include "codecs/base/layout.hpp"
#include "codecs/base/words.hpp"

namespace mcr::codecs {

inline constexpr std::size_t run_length = 16;  // neighbouring points share cache lines
inline constexpr std::uint32_t widest_structure = 16;

/// A point and its neighbours: bits 0, 1 and 2 of the index mean one step back along the fastest,
/// second and third axis.
template <typename Word>
using Corner = std::array<Word, 8>;

/// A run of points: the place of its first element, the steps to its neighbours, and how many
/// columns, rows and planes precede it.
struct PointRun {
  std::size_t begin = 0;  ///< number of its first point among all points
  std::size_t count = 0;
  std::uint64_t index = 0;
  std::uint64_t column_step = 1;  ///< distance, in elements, to the element before along each axis
  std::uint64_t row_step = 0;
  std::uint64_t plane_step = 0;
  std::uint64_t columns = 0;
  std::uint64_t rows = 0;
  std::uint64_t planes = 0;
};

/// Describes the rows of a brick.
struct Axes {
  std::uint64_t length = 0;  // elements in a row
  std::uint64_t stride = 1;  // distance between the elements of a row
  // Distance to the previous row along the second and third axis.
  std::array<std::uint64_t, 2> step{};
  std::array<std::uint64_t, 2> extent{1, 1};  // extents of the second and third axis
  std::uint64_t members = 1;                  // members of a structure
};

inline Axes axes_of(const Shape& shape, bool split) {
  Axes axes;
  std::size_t rank = shape.rank;
  if (split) axes.members = shape.extent[--rank];
  axes.stride = axes.members;
  axes.length = shape.extent[rank - 1];
  std::uint64_t step = axes.stride * axes.length;
  for (std::size_t i = 0; i < 2 && i + 2 <= rank; ++i) {
    axes.step[i] = step;
    axes.extent[i] = shape.extent[rank - 2 - i];
    step *= axes.extent[i];
  }
  return axes;
}

inline bool can_split(const Layout& layout) {
  return std::any_of(layout.bricks.begin(), layout.bricks.end(), [](const Shape& shape) {
    const std::uint32_t last = shape.extent[shape.rank - 1];
    return shape.rank >= 2 && last >= 2 && last <= widest_structure;
  });
}

inline std::size_t most_axes(const Layout& layout, bool split) {
  std::size_t axes = 0;
  for (const Shape& shape : layout.bricks) axes = std::max<std::size_t>(axes, shape.rank);
  return axes - (split && axes > 1 ? 1 : 0);
}

template <typename Word>
Word word_at(ByteSpan raw, std::uint64_t index, bool reverse) {
  const Word word = load<Word>(raw.data() + index * sizeof(Word));
  // Elements have the layout's byte order, but computations need this machine's.
  return reverse ? reverse_bytes(word) : word;
}

/// Chooses runs of points, spread evenly, with a jitter so that they are not aligned with any
/// stride of the data.
template <typename Word>
void gather_points(const Layout& layout, ByteSpan raw, std::size_t points, bool split, bool reverse,
                   std::vector<Corner<Word>>& corners, std::vector<PointRun>& point_runs) {
  const std::uint64_t total = layout.count();
  const std::uint64_t runs =
      std::max<std::uint64_t>(1, std::min<std::uint64_t>(points, total) / run_length);
  std::uint64_t random = 0x9e3779b97f4a7c15;
  auto brick = layout.bricks.begin();
  std::uint64_t brick_begin = 0;
  corners.clear();
  point_runs.clear();
  for (std::uint64_t run = 0; run < runs; ++run) {
    random = random * 6364136223846793005U + 1442695040888963407U;
    const std::uint64_t window = std::max<std::uint64_t>(1, total / runs);
    const std::uint64_t at = std::min(total * run / runs + (random >> 33) % window, total - 1);
    while (at >= brick_begin + brick->count()) {
      brick_begin += brick->count();
      ++brick;
    }
    const std::uint32_t last = brick->extent[brick->rank - 1];
    const bool splits = split && brick->rank >= 2 && last >= 2 && last <= widest_structure;
    const Axes axes = axes_of(*brick, splits);
    const std::uint64_t inside = at - brick_begin;
    const std::uint64_t member = inside % axes.members;
    const std::uint64_t element =
        inside / axes.members;  // the structure's number in the row-major box
    const std::uint64_t row = element / axes.length;
    const std::uint64_t count = std::min<std::uint64_t>(run_length, axes.length);
    const std::uint64_t first = std::min(element % axes.length, axes.length - count);
    const std::uint64_t row_begin = brick_begin + row * axes.length * axes.stride + member;
    const std::uint64_t rows = row % axes.extent[0];
    const std::uint64_t planes = (row / axes.extent[0]) % axes.extent[1];
    const bool has_second = rows != 0;
    const bool has_third = planes != 0;
    const std::size_t at_corner = corners.size();
    point_runs.push_back({at_corner, static_cast<std::size_t>(count),
                          row_begin + first * axes.stride, axes.stride, axes.step[0], axes.step[1],
                          first, rows, planes});
    corners.resize(at_corner + static_cast<std::size_t>(count));
    for (std::size_t k = 0; k < 8; ++k) {
      if (((k & 2) != 0 && !has_second) || ((k & 4) != 0 && !has_third)) continue;
      const bool left = (k & 1) != 0;
      const std::uint64_t back = (left ? axes.stride : 0) + ((k & 2) != 0 ? axes.step[0] : 0) +
                                 ((k & 4) != 0 ? axes.step[1] : 0);
      for (std::uint64_t i = left && first == 0 ? 1 : 0; i < count; ++i) {
        corners[at_corner + static_cast<std::size_t>(i)][k] =
            word_at<Word>(raw, row_begin + (first + i) * axes.stride - back, reverse);
      }
    }
  }
}

}  // namespace mcr::codecs
