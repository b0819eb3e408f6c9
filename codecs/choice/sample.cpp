// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/choice/sample.hpp"

#include <algorithm>
#include <array>

namespace mcr::codecs {
namespace {

/// Returns `shape` with its largest extents halved until it has at most `count` elements.
Shape box_within(Shape shape, std::uint64_t count) {
  while (shape.count() > count) {
    auto* largest = std::max_element(shape.extent.begin(), shape.extent.begin() + shape.rank);
    if (*largest <= 1) break;
    *largest = (*largest + 1) / 2;
  }
  return shape;
}

/// Appends the box of shape `box` around element `center` of a brick of `shape`.
void copy_box(ByteSpan brick, const Shape& shape, std::uint64_t center, const Shape& box,
              std::size_t element_bytes, Bytes& out) {
  // Four dimensions, slowest first; missing ones are 1.
  std::array<std::uint64_t, Shape::max_rank> extent{1, 1, 1, 1};
  std::array<std::uint64_t, Shape::max_rank> box_extent{1, 1, 1, 1};
  std::array<std::uint64_t, Shape::max_rank> origin{};
  const std::size_t missing = Shape::max_rank - shape.rank;
  for (std::size_t axis = 0; axis < shape.rank; ++axis) {
    extent[missing + axis] = shape.extent[axis];
    box_extent[missing + axis] = box.extent[axis];
  }
  for (std::size_t axis = Shape::max_rank; axis-- > 0;) {
    const std::uint64_t at = center % extent[axis];
    center /= extent[axis];
    const std::uint64_t half = box_extent[axis] / 2;
    origin[axis] = std::min(at > half ? at - half : 0, extent[axis] - box_extent[axis]);
  }
  for (std::uint64_t i = 0; i < box_extent[0]; ++i) {
    for (std::uint64_t j = 0; j < box_extent[1]; ++j) {
      for (std::uint64_t k = 0; k < box_extent[2]; ++k) {
        const std::uint64_t row =
            ((origin[0] + i) * extent[1] + origin[1] + j) * extent[2] + origin[2] + k;
        const auto begin = static_cast<std::size_t>(row * extent[3] + origin[3]) * element_bytes;
        const ByteSpan line =
            brick.subspan(begin, static_cast<std::size_t>(box_extent[3]) * element_bytes);
        out.insert(out.end(), line.begin(), line.end());
      }
    }
  }
}

}  // namespace

Sample take_sample(const Layout& layout, ByteSpan raw, std::size_t box_count,
                   std::size_t box_bytes) {
  const std::uint64_t total = layout.count();
  if (raw.size() <= box_count * box_bytes) return {layout, Bytes(raw.begin(), raw.end())};
  Sample sample;
  sample.layout.type = layout.type;
  const std::size_t element_bytes = layout.type.size;
  const std::uint64_t box_elements = std::max<std::uint64_t>(1, box_bytes / element_bytes);
  auto brick = layout.bricks.begin();
  std::uint64_t brick_begin = 0;
  // End of the last taken brick: a brick that fits into a box is taken only once.
  std::uint64_t taken_until = 0;
  for (std::size_t i = 0; i < box_count; ++i) {
    const std::uint64_t center = (total * (2 * i + 1)) / (2 * box_count);
    while (center >= brick_begin + brick->count()) {
      brick_begin += brick->count();
      ++brick;
    }
    const Shape box = box_within(*brick, box_elements);
    if (box == *brick && brick_begin < taken_until) continue;
    taken_until = brick_begin + brick->count();
    const ByteSpan bytes = raw.subspan(static_cast<std::size_t>(brick_begin) * element_bytes,
                                       static_cast<std::size_t>(brick->count()) * element_bytes);
    copy_box(bytes, *brick, center - brick_begin, box, element_bytes, sample.raw);
    sample.layout.bricks.push_back(box);
  }
  return sample;
}

}  // namespace mcr::codecs
