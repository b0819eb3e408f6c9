// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/records/columns.hpp"

#include <cstring>

namespace mcr::codecs {
namespace {

/// Calls `copy(width)`. For usual widths the argument is a constant, so that the copy is a few
/// instructions instead of a call.
template <typename Copy>
void with_width(std::size_t width, const Copy& copy) {
  using std::integral_constant;
  switch (width) {
    case 1:
      return copy(integral_constant<std::size_t, 1>{});
    case 2:
      return copy(integral_constant<std::size_t, 2>{});
    case 4:
      return copy(integral_constant<std::size_t, 4>{});
    case 8:
      return copy(integral_constant<std::size_t, 8>{});
    case 12:
      return copy(integral_constant<std::size_t, 12>{});
    case 16:
      return copy(integral_constant<std::size_t, 16>{});
    case 24:
      return copy(integral_constant<std::size_t, 24>{});
    default:
      return copy(width);
  }
}

}  // namespace

Layout column_layout(const Layout& records, const Column& column) {
  Layout layout{column.type, records.bricks};
  layout.type.big_endian = false;  // the codec has reversed the members
  if (column.count == 1) return layout;
  for (Shape& shape : layout.bricks) {
    if (shape.rank == Shape::max_rank) {
      shape.extent[1] *= shape.extent[0];
      for (std::size_t axis = 1; axis < Shape::max_rank; ++axis) {
        shape.extent[axis - 1] = shape.extent[axis];
      }
      --shape.rank;
    }
    shape.extent[shape.rank++] = column.count;
  }
  return layout;
}

void gather_column(const std::byte* records, std::size_t record_bytes, std::size_t count,
                   std::size_t width, std::byte* column) {
  with_width(width, [=](auto bytes) {
    for (std::size_t i = 0; i < count; ++i) {
      std::memcpy(column + i * bytes, records + i * record_bytes, bytes);
    }
  });
}

void scatter_column(const std::byte* column, std::size_t record_bytes, std::size_t count,
                    std::size_t width, std::byte* records) {
  with_width(width, [=](auto bytes) {
    for (std::size_t i = 0; i < count; ++i) {
      std::memcpy(records + i * record_bytes, column + i * bytes, bytes);
    }
  });
}

}  // namespace mcr::codecs
