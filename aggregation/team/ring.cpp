// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/team/ring.hpp"

#include <algorithm>
#include <numeric>

namespace mcr::aggregation {

std::vector<int> ring_of(const std::vector<std::string>& switches) {
  std::vector<int> ring(switches.size());
  std::iota(ring.begin(), ring.end(), 0);
  std::stable_sort(ring.begin(), ring.end(), [&](int a, int b) {
    return switches[static_cast<std::size_t>(a)] < switches[static_cast<std::size_t>(b)];
  });
  return ring;
}

Neighbours half_a_ring_away(const std::vector<int>& ring, int process) {
  const std::size_t size = ring.size();
  const auto position =
      static_cast<std::size_t>(std::find(ring.begin(), ring.end(), process) - ring.begin());
  const std::size_t half = size / 2;
  return {ring[(position + half) % size], ring[(position + size - half) % size]};
}

}  // namespace mcr::aggregation
