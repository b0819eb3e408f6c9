// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/merge/sets.hpp"

#include "test/support/catch.hpp"

using namespace mcr::aggregation;

TEST_CASE("a set is whole when every rank wrote or passed") {
  CHECK(wholeness({4, {0, 1, 2, 3}, {}, {}, false}) == Wholeness::whole);
  CHECK(wholeness({4, {0, 1, 3}, {2}, {}, false}) == Wholeness::whole);
}

TEST_CASE("a rank that nobody knows of leaves the set unknown") {
  CHECK(wholeness({4, {0, 1, 3}, {}, {}, false}) == Wholeness::unknown);
  CHECK(wholeness({4, {0, 1, 3}, {1}, {}, false}) == Wholeness::unknown);
}

TEST_CASE("ranks beyond the launch do not count") {
  CHECK(wholeness({2, {0, 7}, {9}, {}, false}) == Wholeness::unknown);
}

TEST_CASE("a rank that failed makes the set incomplete") {
  CHECK(wholeness({2, {0}, {}, {1}, false}) == Wholeness::incomplete);
}

TEST_CASE("counts of ranks that drifted apart prove nothing") {
  CHECK(wholeness({2, {0, 1}, {}, {}, true}) == Wholeness::unknown);
}

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
