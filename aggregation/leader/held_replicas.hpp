// SPDX-License-Identifier: BSD-3-Clause
// Brings to storage the replicas that this node holds of nodes which were lost, or whose leaders died: the parts
// come back into this node's stage, byte for byte, and are committed from there like those of any other dead
// leader.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "restart/base/file.hpp"

namespace mcr::aggregation {

/// Returns how many replicas of other nodes lie in the stage and belong to no living team.
Result<std::size_t> count_held_replicas(const std::string& stage);

struct BroughtBack {
  std::size_t replicas = 0;  ///< their parts are in storage, or in the stage of this node again
  std::vector<std::string> kept;  ///< why a replica stays where it is: a message each
};
/// Does nothing if a team still runs after `wait_ms`. Commits in this thread; no other thread may call HDF5 meanwhile. Parts that
/// are not committed stay published in their launch's directory.
Result<BroughtBack> bring_back_replicas(const std::string& stage, std::uint64_t wait_ms = 0);

}  // namespace mcr::aggregation
