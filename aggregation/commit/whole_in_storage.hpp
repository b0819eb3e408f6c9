// SPDX-License-Identifier: BSD-3-Clause
// Sets of several nodes that this node has committed: whether the other nodes have, too. Until then, older sets
// that are held in the stage must stay (flush=, docs/design/flush.md).
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "aggregation/commit/commit.hpp"

namespace mcr::aggregation {

class AwaitedSets {
 public:
  /// Called after the commit of this node's part of the set.
  void add(const SetName& set, const SetPlace& place, std::uint32_t rank_count);
  /// Returns those sets of which all nodes' containers are in storage by now, and forgets them. Reads containers only
  /// if their names account for all ranks.
  std::vector<SetName> take_whole();
  [[nodiscard]] bool is_empty() const { return sets_.empty(); }

 private:
  struct Awaited {
    SetPlace place;
    std::uint32_t rank_count = 1;
  };
  std::map<SetName, Awaited> sets_;
};

}  // namespace mcr::aggregation
