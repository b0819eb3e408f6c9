// SPDX-License-Identifier: BSD-3-Clause
#include "restart/format/table_rows.hpp"

#include <optional>
#include <string>

#include "test/support/catch.hpp"

namespace mcr::restart {
namespace {

constexpr std::size_t name_bytes = 16;

void add_row(Bytes& out, std::uint32_t rank, const std::string& name,
             std::optional<std::uint64_t> begin = std::nullopt) {
  Writer writer(out);
  writer.u32(rank);
  if (begin) writer.u64(*begin);
  writer.bytes(as_bytes(name));
  out.resize(out.size() + name_bytes - name.size());
}

TEST_CASE("the names of a table's datasets say what they are, and other names do not") {
  for (const TableRole role : {TableRole::values, TableRole::elements, TableRole::rows})
    CHECK(table_role_of(table_dataset_name(17, role)) == role);
  CHECK(table_dataset_name(17, TableRole::rows) == "~tables/17/rows");
  for (const char* name :
       {"", "rows", "~tables", "~tables/", "~tables/rows", "~tables//rows", "~tables/x/rows",
        "~tables/1/row", "~tables/1/2/rows", "~tables1/rows", "a/~tables/1/rows"}) {
    INFO(name);
    CHECK(table_role_of(name) == TableRole::none);
  }
}

TEST_CASE("rows give their variables, also if a variable's rows are in several pieces") {
  Bytes rows;
  add_row(rows, 0, "a");
  add_row(rows, 1, "a");
  add_row(rows, 1, "b/c d");
  std::vector<TabledVariable> variables;
  REQUIRE(read_table_rows(rows, 4 + name_bytes, false, variables));
  rows.clear();
  add_row(rows, 2, "b/c d");
  REQUIRE(read_table_rows(rows, 4 + name_bytes, false, variables));
  REQUIRE(variables.size() == 2);
  CHECK((variables[0].name == "a" && variables[0].pieces == 2));
  CHECK((variables[1].name == "b/c d" && variables[1].pieces == 2));
}

TEST_CASE("flat rows say where their variables begin") {
  Bytes rows;
  add_row(rows, 0, "a", 0);
  add_row(rows, 1, "a", 5);
  add_row(rows, 0, "b", 12);
  std::vector<TabledVariable> variables;
  REQUIRE(read_table_rows(rows, 12 + name_bytes, true, variables));
  REQUIRE(variables.size() == 2);
  CHECK((variables[0].begin == 0 && variables[0].pieces == 2 && variables[1].begin == 12));
}

TEST_CASE("broken rows are damage") {
  std::vector<TabledVariable> variables;
  Bytes rows;
  add_row(rows, 0, "a");
  const auto fails = [&](ByteSpan bytes, std::size_t row_bytes, bool is_flat) {
    const auto read = read_table_rows(bytes, row_bytes, is_flat, variables);
    return !read && read.error().cause == Cause::damaged;
  };
  CHECK(fails(rows, 0, false));
  CHECK(fails(rows, 3, false));
  CHECK(fails(ByteSpan(rows).first(19), 20, false));
  CHECK(fails(ByteSpan(rows).first(4), 4, false));  // no room for a name
  CHECK(fails(ByteSpan(rows).first(10), 10, false));
  Bytes endless;
  add_row(endless, 0, std::string(name_bytes, 'x'));
  CHECK(fails(endless, 20, false));
  Bytes nameless;
  add_row(nameless, 0, "");
  CHECK(fails(nameless, 20, false));
  CHECK(variables.empty());
}

}  // namespace
}  // namespace mcr::restart
