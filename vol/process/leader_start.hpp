// SPDX-License-Identifier: BSD-3-Clause
// A launch has one leader on each node. The rank that finds none starts one: `mcr leader --detach`, by
// clone and posix_spawn, never by a plain fork from an MPI rank. It is always the command that was
// installed with the plugin. The leader's own process resets descriptors, affinity and priority.
#pragma once

#include "restart/format/stub.hpp"
#include "vol/process/process.hpp"

namespace mcr::vol {

enum class LeaderLook : std::uint8_t {
  seldom,  ///< once a second
  now,
  last  ///< now; no later look follows, so a start by another rank is not relied on
};
/// Makes sure that the launch has a leader on this node: looks for one, and starts one if there is
/// none and no other rank is starting one. Returns false if a leader cannot be started, or several
/// looks found none: the parts in the stage then wait for `mcr recover`, and the caller should put
/// no more parts there.
bool ensure_leader(JobStage& stage, LeaderLook look);

/// Starts a leader for another launch's directory that has parts but no leader. The directory must
/// lie in `stage`, which the settings name, because `launch_directory` may come from a stub, and a
/// leader removes its directory.
void adopt_launch(const restart::Settings& settings, const std::string& stage,
                  const std::string& launch_directory);

/// The same for all of this user's launches in the stage that have no living process. Only the
/// first call in a process does anything. For processes that only read, and so start no leader of
/// their own.
void adopt_orphans(const restart::Settings& settings);

/// The same for the launch of this user's stub if its part was left in another stage than the
/// settings name: a restart may have another `stage=`.
void adopt_orphan_of(const restart::Stub& stub, const restart::Settings& settings);

}  // namespace mcr::vol
