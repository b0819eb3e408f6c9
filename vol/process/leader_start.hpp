// SPDX-License-Identifier: BSD-3-Clause
// Starts the node's leader where none leads: `mcr leader --detach`, the command that was installed
// beside the plugin and nothing else, by clone and posix_spawn (never a plain fork from an MPI
// rank). What is left to reset, descriptors, affinity, priority, happens in the leader after exec.
#pragma once

#include "vol/process/process.hpp"

namespace mcr::vol {

enum class LeaderLook : std::uint8_t {
  seldom,  ///< once a second
  now,
  last  ///< nobody will look after this one: a leader that another rank starts is not relied upon
};
/// Looks for a leader and starts one where there is none and no other rank does so. False where that
/// has been of no use: what is in the stage waits there for `mcr recover`, and nothing more should
/// be put there.
bool ensure_leader(JobStage& stage, LeaderLook look);

/// Starts a leader for another launch's directory, where parts wait and none leads. Only in `stage`,
/// which the settings name: `launch_directory` may come from a stub, and a leader removes it.
void adopt_launch(const std::string& stage, const std::string& launch_directory);

/// The same for all of this user's launches in the stage of which nobody lives. Once a process: for
/// one that only reads, and so has no leader of its own to see to them.
void adopt_orphans(const std::string& stage);

}  // namespace mcr::vol
