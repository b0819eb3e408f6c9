// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/merge/sets.hpp"

#include "test/support/catch.hpp"

using namespace mcr::aggregation;

TEST_CASE("a single candidate needs no support, several need some") {
  CHECK(choose_name({{"a", "a"}}, {0}, {0}) == 0);
  CHECK(choose_name({{"a", "a"}, {"b", "b"}}, {0, 0}, {0, 0}) == -1);
  CHECK(choose_name({{"a", "a"}, {"b", "b"}}, {0, 1}, {5, 0}) == 1);
  CHECK(choose_name({{"a", "a"}, {"b", "b"}}, {0, 0}, {1, 1}) == 0);
}

TEST_CASE("groups are runs of consecutive ranks, or all of the node") {
  CHECK(group_of(0, 0) == group_of(99, 0));
  CHECK(group_of(3, 4) == 0);
  CHECK(group_of(4, 4) == 1);
}
