// SPDX-License-Identifier: BSD-3-Clause
// Tables of small variables in a container: the names of their datasets, and what their rows say
// (docs/format.md, "Tables of small variables"). A restart does not need them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "codecs/base/bytes.hpp"

namespace mcr::restart {

/// The group of all tables, below /variables.
inline constexpr std::string_view tables_group = "~tables";

enum class TableRole : std::uint8_t {
  none,      ///< not of a table
  values,    ///< the values, one row for each piece
  elements,  ///< the values of pieces that have different shapes: one element after the other
  rows,      ///< what each piece is
};
/// Returns the name of table `number`'s dataset. `role` is not `none`.
std::string table_dataset_name(unsigned number, TableRole role);
/// Returns what the dataset `name` is.
TableRole table_role_of(std::string_view name);

/// A variable of a table.
struct TabledVariable {
  std::string name;
  std::uint64_t pieces = 0;
  std::uint64_t begin = 0;  ///< of the first piece; only if the pieces have different shapes
};

/// Appends the variables of consecutive rows of `row_bytes` each; `is_flat` if the table has the role `elements`. A
/// variable that `variables` ends with may go on. Cause::damaged: there is no such row.
Result<void> read_table_rows(ByteSpan rows, std::size_t row_bytes, bool is_flat,
                             std::vector<TabledVariable>& variables);

}  // namespace mcr::restart
