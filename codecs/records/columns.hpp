// SPDX-License-Identifier: BSD-3-Clause
// Columns of an array of records. A column is adjacent members of one type. See spec.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "codecs/base/layout.hpp"

namespace mcr::codecs {

/// `count` members of `type`, one after the other in each record.
struct Column {
  ElementType type;
  std::uint32_t count = 1;

  [[nodiscard]] std::uint64_t bytes() const { return std::uint64_t{type.size} * count; }
  bool operator==(const Column&) const = default;
};

/// The most columns that the codec takes. Records with more columns are coded in other ways.
inline constexpr std::size_t max_columns = 64;

/// Returns the layout of one column of `records`: bricks keep their shapes; if the column has
/// several members, these become the last dimension.
Layout column_layout(const Layout& records, const Column& column);

/// Copies the first `width` bytes of each of `count` records of `record_bytes` to `column`, one
/// after the other.
void gather_column(const std::byte* records, std::size_t record_bytes, std::size_t count,
                   std::size_t width, std::byte* column);
/// The inverse.
void scatter_column(const std::byte* column, std::size_t record_bytes, std::size_t count,
                    std::size_t width, std::byte* records);

}  // namespace mcr::codecs
