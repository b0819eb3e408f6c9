// SPDX-License-Identifier: BSD-3-Clause
#include "restart/format/table_rows.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace mcr::restart {
namespace {

constexpr std::array<std::pair<std::string_view, TableRole>, 3> roles{
    {{"values", TableRole::values}, {"elements", TableRole::elements}, {"rows", TableRole::rows}}};

/// A rank and a name. A reader's memory for many short rows would be far larger than the rows.
constexpr std::size_t least_row_bytes = 4 + 16;

}  // namespace

std::string table_dataset_name(unsigned number, TableRole role) {
  const auto* const named =
      std::find_if(roles.begin(), roles.end(), [&](const auto& one) { return one.second == role; });
  return std::string(tables_group) + '/' + std::to_string(number) + '/' + std::string(named->first);
}

TableRole table_role_of(std::string_view name) {
  if (!name.starts_with(tables_group)) return TableRole::none;
  name.remove_prefix(tables_group.size());
  const std::size_t slash = name.rfind('/');
  if (slash == std::string_view::npos || slash < 2 || name.front() != '/') return TableRole::none;
  const std::string_view number = name.substr(1, slash - 1);
  if (!std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; }))
    return TableRole::none;
  for (const auto& [word, role] : roles) {
    if (name.substr(slash + 1) == word) return role;
  }
  return TableRole::none;
}

Result<void> read_table_rows(ByteSpan rows, std::size_t row_bytes, bool is_flat,
                             std::vector<TabledVariable>& variables) {
  if (row_bytes < least_row_bytes || rows.size() % row_bytes != 0)
    return Error{Cause::damaged, "a table has a broken row"};
  for (; !rows.empty(); rows = rows.subspan(row_bytes)) {
    Reader in(rows.first(row_bytes));
    MCR_TRY(in.u32());  // the rank
    const std::uint64_t begin = is_flat ? MCR_TRY(in.u64()) : 0;
    const std::string_view rest = as_text(MCR_TRY(in.bytes(in.remaining())));
    const std::size_t end = rest.find('\0');
    if (end == std::string_view::npos || end == 0)
      return Error{Cause::damaged, "a row of a table has no name"};
    const std::string_view name = rest.substr(0, end);
    if (variables.empty() || variables.back().name != name)
      variables.push_back({std::string(name), 0, begin});
    ++variables.back().pieces;
  }
  return {};
}

}  // namespace mcr::restart
