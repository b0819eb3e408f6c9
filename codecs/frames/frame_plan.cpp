// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/frames/frame_plan.hpp"

#include <algorithm>
#include <cmath>

namespace mcr::codecs {
namespace {

constexpr std::uint32_t smallest_cube = 4;
constexpr std::uint32_t smallest_square = 8;

/// Appends the slabs of `shape`, each at most `frame_bytes` unless a single row is larger.
void cut(Shape shape, std::uint64_t element_bytes, std::uint64_t frame_bytes,
         std::vector<Shape>& slabs) {
  const std::uint64_t bytes = shape.count() * element_bytes;
  const std::uint32_t rows = shape.extent[0];
  if (bytes <= frame_bytes || rows == 0) {
    slabs.push_back(shape);
    return;
  }
  const std::uint64_t row_bytes = bytes / rows;
  if (row_bytes > frame_bytes && shape.rank > 1) {
    Shape row{static_cast<std::uint8_t>(shape.rank - 1), {}};
    std::copy_n(shape.extent.begin() + 1, row.rank, row.extent.begin());
    for (std::uint32_t i = 0; i < rows; ++i) cut(row, element_bytes, frame_bytes, slabs);
    return;
  }
  // Slabs have nearly equal heights, so that no small remainder is left.
  const std::uint64_t rows_at_most = std::max<std::uint64_t>(1, frame_bytes / row_bytes);
  const std::uint64_t count = (rows + rows_at_most - 1) / rows_at_most;
  for (std::uint64_t i = 0; i < count; ++i) {
    shape.extent[0] = static_cast<std::uint32_t>(rows * (i + 1) / count - rows * i / count);
    slabs.push_back(shape);
  }
}

}  // namespace

Shape mesh_shape(const Shape& shape) {
  if (shape.rank != 1) return shape;
  const std::uint64_t count = shape.extent[0];
  const auto side = [](double root) { return static_cast<std::uint32_t>(std::lround(root)); };
  const std::uint32_t cube = side(std::cbrt(static_cast<double>(count)));
  if (cube >= smallest_cube && std::uint64_t{cube} * cube * cube == count) {
    return {3, {cube, cube, cube}};
  }
  const std::uint32_t square = side(std::sqrt(static_cast<double>(count)));
  if (square >= smallest_square && std::uint64_t{square} * square == count) {
    return {2, {square, square}};
  }
  return shape;
}

Layout mesh_layout(const Layout& layout) {
  Layout shaped = layout;
  for (Shape& shape : shaped.bricks) shape = mesh_shape(shape);
  return shaped;
}

std::vector<FramePiece> plan_frames(const Layout& layout, std::size_t frame_bytes) {
  std::vector<FramePiece> pieces;
  const std::uint64_t full = frame_bytes + frame_bytes / 4;
  std::uint64_t position = 0;
  std::vector<Shape> slabs;
  for (const Shape& brick : layout.bricks) {
    slabs.clear();
    const Shape shape = mesh_shape(brick);
    if (shape.count() * layout.type.size <= full) {
      slabs.push_back(shape);
    } else {
      cut(shape, layout.type.size, frame_bytes, slabs);
    }
    for (const Shape& slab : slabs) {
      const std::uint64_t bytes = slab.count() * layout.type.size;
      if (bytes == 0) continue;
      if (pieces.empty() || pieces.back().bytes + bytes > full) {
        pieces.push_back({{layout.type, {}}, static_cast<std::size_t>(position), 0});
      }
      pieces.back().layout.bricks.push_back(slab);
      pieces.back().bytes += static_cast<std::size_t>(bytes);
      position += bytes;
    }
  }
  return pieces;
}

}  // namespace mcr::codecs
