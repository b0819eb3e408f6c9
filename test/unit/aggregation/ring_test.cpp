// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/team/ring.hpp"

#include <set>
#include <string>
#include <vector>

#include "test/support/catch.hpp"

using namespace mcr::aggregation;

namespace {

/// True if each process has one buddy, and is the buddy of one.
bool is_one_to_one(const std::vector<int>& ring) {
  std::set<int> buddies;
  for (const int process : ring) {
    const Neighbours own = half_a_ring_away(ring, process);
    if (own.buddy == process || half_a_ring_away(ring, own.buddy).from != process) return false;
    buddies.insert(own.buddy);
  }
  return buddies.size() == ring.size();
}

}  // namespace

TEST_CASE("without a topology, the buddy of node i of n is node i + n/2") {
  const std::vector<int> ring = ring_of({"", "", "", "", ""});
  CHECK(ring == std::vector{0, 1, 2, 3, 4});
  CHECK(half_a_ring_away(ring, 0).buddy == 2);
  CHECK(half_a_ring_away(ring, 4).buddy == 1);
  CHECK(half_a_ring_away(ring, 0).from == 3);
}

TEST_CASE("nodes below two switches, in any order: each buddy lies below the other switch") {
  const std::vector<std::string> switches{"top.a", "top.b", "top.a", "top.b", "top.a", "top.b"};
  const std::vector<int> ring = ring_of(switches);
  for (const int process : ring) {
    const int buddy = half_a_ring_away(ring, process).buddy;
    CHECK(switches[static_cast<std::size_t>(process)] != switches[static_cast<std::size_t>(buddy)]);
  }
}

TEST_CASE(
    "each node has one buddy and is the buddy of one, for all sizes and for switches of different "
    "sizes") {
  for (std::size_t size = 2; size < 40; ++size) {
    for (std::size_t below_one = 0; below_one <= size; ++below_one) {
      std::vector<std::string> switches(size, "a");
      for (std::size_t i = 0; i < below_one; ++i) switches[i * 7 % size] = "b";
      CHECK(is_one_to_one(ring_of(switches)));
    }
  }
}
