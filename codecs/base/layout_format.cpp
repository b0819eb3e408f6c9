// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/base/layout_format.hpp"

#include "codecs/base/byte_order.hpp"

namespace mcr::codecs {
namespace {

bool is_number(const ElementType& type) { return type.kind != ElementKind::bytes; }

Error damaged(const char* what) { return {Cause::damaged, std::string("frame: ") + what}; }

}  // namespace

// Type byte: kind in bits 0-1, big-endian in bit 2, bits 3-6: binary logarithm of the size, or 15
// where the size follows as a varint.
void write_type(const ElementType& type, Writer& out) {
  const auto kind = static_cast<unsigned>(type.kind) | (type.big_endian ? 4U : 0U);
  if (is_word_size(type.size)) {
    out.u8(static_cast<std::uint8_t>(kind | static_cast<unsigned>(__builtin_ctz(type.size)) << 3));
  } else {
    out.u8(static_cast<std::uint8_t>(kind | 15U << 3));
    out.varint(type.size);
  }
}

Result<ElementType> read_type(Reader& in) {
  const std::uint8_t byte = MCR_TRY(in.u8());
  ElementType type;
  type.kind = static_cast<ElementKind>(byte & 3U);
  type.big_endian = (byte & 4U) != 0;
  const unsigned log2_size = (byte >> 3) & 15U;
  if ((byte & 0x80U) != 0 || (log2_size > 3 && log2_size != 15)) return damaged("no such type");
  type.size = 1U << (log2_size & 3U);
  if (log2_size == 15) {
    type.size =
        static_cast<std::uint32_t>(MCR_TRY(in.varint_at_most(max_element_bytes, "type size")));
  }
  return type;
}

// Bricks: runs of equal shapes. A run: varint of (repeats - 1) * 4 + (rank - 1), then the extents.
void write_bricks(const std::vector<Shape>& bricks, Writer& out) {
  std::uint64_t runs = 0;
  for (std::size_t i = 0; i < bricks.size(); ++i) runs += i == 0 || bricks[i] != bricks[i - 1];
  out.varint(runs);
  for (std::size_t i = 0; i < bricks.size();) {
    std::size_t end = i + 1;
    while (end < bricks.size() && bricks[end] == bricks[i]) ++end;
    const Shape& shape = bricks[i];
    out.varint((end - i - 1) * 4 + shape.rank - 1U);
    for (std::size_t axis = 0; axis < shape.rank; ++axis) out.varint(shape.extent[axis]);
    i = end;
  }
}

Result<std::vector<Shape>> read_bricks(Reader& in) {
  std::vector<Shape> bricks;
  const std::uint64_t runs = MCR_TRY(in.varint_at_most(max_frame_bricks, "number of brick runs"));
  std::uint64_t elements = 0;
  for (std::uint64_t run = 0; run < runs; ++run) {
    const std::uint64_t head = MCR_TRY(in.varint_at_most(max_frame_bricks * 4, "brick run"));
    const std::uint64_t repeats = head / 4 + 1;
    Shape shape;
    shape.rank = static_cast<std::uint8_t>(head % 4 + 1);
    std::uint64_t count = 1;
    for (std::size_t axis = 0; axis < shape.rank; ++axis) {
      shape.extent[axis] =
          static_cast<std::uint32_t>(MCR_TRY(in.varint_at_most(max_frame_raw_bytes, "extent")));
      count = MCR_TRY(checked_multiply(count, shape.extent[axis]));
    }
    elements = MCR_TRY(checked_add(elements, MCR_TRY(checked_multiply(count, repeats))));
    if (elements > max_frame_raw_bytes || bricks.size() + repeats > max_frame_bricks) {
      return damaged("bricks are above their limit");
    }
    bricks.insert(bricks.end(), static_cast<std::size_t>(repeats), shape);
  }
  return bricks;
}

Result<void> check_layout(const Layout& layout) {
  const ElementType& type = layout.type;
  const auto refuse = [](const char* what) { return Error{Cause::usage, what}; };
  if (type.size == 0 || type.size > max_element_bytes) return refuse("element size out of bounds");
  if (is_number(type) && !is_word_size(type.size)) return refuse("number of an odd size");
  if (type.kind == ElementKind::floating && type.size == 1)
    return refuse("floating type of one byte");
  if (layout.bricks.size() > max_frame_bricks) return refuse("too many bricks in a frame");
  std::uint64_t bytes = 0;
  for (const Shape& shape : layout.bricks) {
    if (shape.rank < 1 || shape.rank > Shape::max_rank) return refuse("brick of a wrong rank");
    std::uint64_t brick_bytes = type.size;
    bool empty = false;
    for (std::size_t axis = 0; axis < shape.rank; ++axis) empty |= shape.extent[axis] == 0;
    for (std::size_t axis = 0; axis < shape.rank && !empty; ++axis) {
      brick_bytes *= shape.extent[axis];
      if (brick_bytes > max_frame_raw_bytes) return refuse("too many bytes in a frame");
    }
    bytes += empty ? 0 : brick_bytes;
    if (bytes > max_frame_raw_bytes) return refuse("too many bytes in a frame");
  }
  return {};
}

}  // namespace mcr::codecs
