// SPDX-License-Identifier: BSD-3-Clause
// A group of published parts becomes a container, and leaves the stage.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "aggregation/commit/container_watch.hpp"
#include "aggregation/commit/drain_group.hpp"
#include "aggregation/commit/held_set.hpp"
#include "aggregation/commit/known_containers.hpp"
#include "aggregation/commit/short_storage.hpp"
#include "aggregation/commit/stub_handles.hpp"
#include "aggregation/commit/summary.hpp"
#include "restart/format/container_name.hpp"
#include "restart/settings/settings.hpp"
#include "restart/stage/stage.hpp"

namespace mcr::aggregation {

/// The place of this leader's container of a set. note_account() writes facts that become known
/// after the commit (which ranks passed, failed or drifted) into a supplement in its directory.
struct SetPlace {
  restart::ContainerName where;
  restart::FileIdentity directory;  ///< of the containers
  restart::Settings settings;
  /// Of our container: tells it from other nodes' containers of the set.
  std::uint32_t first_rank = 0;
  std::uint32_t last_rank = 0;
};
using SetPlaces = std::map<SetName, SetPlace>;

/// Merges the group and takes its parts out of the stage. This is the only caller of HDF5 in a
/// leader, and always runs in the same thread. commit.cpp lists the steps, and what a crash after
/// each step leaves. If `stubs` is null, renamed files are searched for (stub_search); if `known`
/// is null, the container directory is listed; if `watch` is null, the container is not watched; if
/// `short_storage` is null, no set is removed when storage is full.
DrainDone commit_group(const restart::LaunchDirectory& directory, const DrainGroup& group,
                       Summary& summary, StubHandles* stubs = nullptr, SetPlaces* places = nullptr,
                       KnownContainers* known = nullptr, ContainerWatch* watch = nullptr,
                       ShortStorage* short_storage = nullptr);

/// Makes the group's container in memory for the team, and keeps it and the parts from storage (flush= on several nodes). Runs in
/// the same thread as commit_group(). Returns null, and changes nothing, if that is not possible: the group is then to be committed.
std::unique_ptr<HeldSet> hold_group(const restart::LaunchDirectory& directory,
                                    const DrainGroup& group, StubHandles& stubs);

/// Writes what is known of a set by now into a supplement without parts, beside the set's
/// containers. Does nothing if the containers are gone.
Result<void> note_account(const restart::LaunchDirectory& directory, const DrainGroup& account,
                          const SetPlaces& places);

}  // namespace mcr::aggregation
