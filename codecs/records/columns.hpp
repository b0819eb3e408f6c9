// SPDX-License-Identifier: BSD-3-Clause
// Columns of an array of records: members that lie side by side and have one type. spec.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "codecs/base/layout.hpp"

namespace mcr::codecs {

/// `count` members of `type`, one behind the other in each record.
struct Column {
  ElementType type;
  std::uint32_t count = 1;

  [[nodiscard]] std::uint64_t bytes() const { return std::uint64_t{type.size} * count; }
  bool operator==(const Column&) const = default;
};

/// What the codec takes at most: a record of more members is coded in other ways.
inline constexpr std::size_t max_columns = 64;

/// The layout of one column of records in `records`: the bricks keep their shapes, with the members
/// as the last dimension where there are several.
Layout column_layout(const Layout& records, const Column& column);

/// `width` bytes from each of `count` records of `record_bytes`, one behind the other in `column`.
void gather_column(const std::byte* records, std::size_t record_bytes, std::size_t count,
                   std::size_t width, std::byte* column);
/// The inverse.
void scatter_column(const std::byte* column, std::size_t record_bytes, std::size_t count,
                    std::size_t width, std::byte* records);

}  // namespace mcr::codecs
