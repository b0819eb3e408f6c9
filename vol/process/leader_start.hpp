// SPDX-License-Identifier: BSD-3-Clause
// Starts the node's leader if none leads: `mcr leader --detach`, always the command that was installed
// beside the plugin, by clone and posix_spawn (never a plain fork from an MPI rank). The leader itself
// resets descriptors, affinity and priority after exec.
#pragma once

#include "vol/process/process.hpp"

namespace mcr::vol {

enum class LeaderLook : std::uint8_t {
  seldom,  ///< once a second
  now,
  last  ///< no later look follows: does not rely on a leader that another rank starts
};
/// Makes sure that the launch has a leader on this node: looks for one, and starts one if there is none and
/// no other rank is starting one. Returns false if there is still none: the parts in the stage then
/// wait for `mcr recover`, and the caller should put no more into the stage.
bool ensure_leader(JobStage& stage, LeaderLook look);

/// Starts a leader for another launch's directory that has parts but no leader. The directory must lie
/// in `stage`, which the settings name: `launch_directory` may come from a stub, and a leader removes
/// it.
void adopt_launch(const std::string& stage, const std::string& launch_directory);

/// The same for all of this user's launches in the stage without a living process. Works once per
/// process: for a process that only reads, and so has no leader of its own.
void adopt_orphans(const std::string& stage);

}  // namespace mcr::vol
