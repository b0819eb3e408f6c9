// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/merge/stable_names.hpp"

#include <algorithm>

#include "test/support/catch.hpp"

namespace mcr::aggregation {
namespace {

using Names = std::vector<std::string>;

/// The stable names with `#` for any_number.
Names shown(const Names& names) {
  Names stable = stable_names(names);
  for (std::string& name : stable) std::replace(name.begin(), name.end(), any_number, '#');
  return stable;
}

TEST_CASE("names with the step in them are the same in the next set") {
  const auto of_step = [](const std::string& step) {
    return shown({"rho it=" + step + " rl=0", "rho it=" + step + " rl=1",
                  "press it=" + step + " rl=0", "press it=" + step + " rl=1", "time"});
  };
  REQUIRE(of_step("0") == of_step("1024"));
  REQUIRE(of_step("64") ==
          Names{"rho it=# rl=0", "rho it=# rl=1", "press it=# rl=0", "press it=# rl=1", "time"});
}

TEST_CASE("numbers that tell variables of one set apart stay") {
  REQUIRE(shown({"v1", "v2", "v10"}) == Names{"v1", "v2", "v10"});
  REQUIRE(shown({"grid01/a2", "grid02/a2"}) == Names{"grid01/a#", "grid02/a#"});
  REQUIRE(stable_names({}).empty());
  REQUIRE(shown({"7", "", "x"}) == Names{"#", "", "x"});
}

TEST_CASE("different names stay different") {
  const Names names{"a#", "a1", "a#1", "a2", "a", "a##", "a3#", "b3", "b#"};
  Names stable = stable_names(names);
  std::sort(stable.begin(), stable.end());
  REQUIRE(std::adjacent_find(stable.begin(), stable.end()) == stable.end());
}

}  // namespace
}  // namespace mcr::aggregation
