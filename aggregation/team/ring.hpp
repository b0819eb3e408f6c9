// SPDX-License-Identifier: BSD-3-Clause
// Chooses each node's buddy, which holds its replicas. A switch or a rack may fail as a whole, so the two should lie below different
// switches.
#pragma once

#include <string>
#include <vector>

namespace mcr::aggregation {

/// Returns the processes of the team in the order of a ring. `switches`: of each process, the switches above its node, from the topmost
/// to the nearest (restart::scheduler_switches()). Processes below one switch stand together; otherwise, and if nothing is known,
/// the order stays.
std::vector<int> ring_of(const std::vector<std::string>& switches);

struct Neighbours {
  int buddy = 0;  ///< holds this process's replicas
  int from = 0;   ///< this process holds its replicas
};
/// Half a ring away, a node lies below another switch, unless one switch has more than half of the nodes.
Neighbours half_a_ring_away(const std::vector<int>& ring, int process);

}  // namespace mcr::aggregation
