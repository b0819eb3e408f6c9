// SPDX-License-Identifier: BSD-3-Clause
// Steps 2 and 3 of a commit: where the container goes, and what of its set lies there already.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "aggregation/commit/known_containers.hpp"
#include "aggregation/commit/locked_parts.hpp"
#include "aggregation/commit/stub_handles.hpp"
#include "aggregation/commit/stub_places.hpp"
#include "aggregation/commit/write_container.hpp"
#include "restart/format/container_name.hpp"
#include "restart/settings/settings.hpp"

namespace mcr::aggregation {

/// Parts that some container of the set already lists, and the names that are taken.
struct Present {
  std::set<restart::PartId> parts;
  std::set<std::string> names;
};
/// `known`: what this leader has listed already; null: the directory is listed.
Present find_present(const restart::ContainerName& where, KnownContainers* known = nullptr);

/// A name of this group that no container has yet.
std::string free_name(const restart::ContainerName& where, const Present& present,
                      std::uint32_t first, std::uint32_t last, std::uint32_t supplement);

/// The next name of a bundle of this block.
std::string free_bundle_name(const restart::ContainerName& where, const Present& present);

/// Waits, at most half a second, until no more files are being removed one after another from the
/// directory of the first part, or all stubs of these parts are gone: a directory of ours in a directory
/// that is being removed would make the removal fail. False where the removals go on.
bool wait_for_removal(const std::vector<LockedPart>& parts, StubHandles* stubs);

/// Where the stubs of a group's parts are, and so where their container goes.
struct Followed {
  StubPlaces places;
  Placement placement;
};
/// Parts whose files the program has removed leave the stage and the list, and go to `left`. First
/// wait_for_removal().
Followed follow_stubs(const restart::LaunchDirectory& directory, StubHandles* stubs,
                      const PlaceByNames& names, std::vector<LockedPart>& parts,
                      std::vector<restart::PartId>& left);

/// A directory of containers that is open.
struct Place {
  restart::File directory;
  struct stat outer {};  ///< the directory above it and above its files
  bool is_new = false;
};
/// Removes the directory of containers again, if it was made with `place` and nothing is in it.
void remove_if_new(const Place& place, const restart::ContainerName& where);

/// Opens the directory of containers, and makes what is missing of it below its base. ENOENT: the stubs no
/// longer lie below the base, for example because its owner has exchanged it.
Result<Place> open_place(const Followed& followed, const std::vector<LockedPart>& parts,
                         const StubHandles* stubs);
/// The same where no stub says whether it is the right one: only below this user's own directories, root's,
/// and those of his group.
Result<Place> open_place_by_path(const restart::ContainerName& where);

/// Sets the sticky bit of the directory of containers where it is this user's and some users may write to
/// it who may not write to the directories of the files: they could remove a container, but not the files.
void keep_from_removers(const Place& place, const std::vector<LockedPart>& parts,
                        const StubHandles* stubs);

/// Takes a container to where its stubs lead, where the program has renamed them while it was written.
/// Brings `followed` and the report's path up to date.
Result<void> follow_container(StubHandles* stubs, const PlaceByNames& names,
                              const std::vector<LockedPart>& parts, Followed& followed,
                              CommitReport& report);

/// Says it in the leader's log and, where that is possible, beside the checkpoints, where a user
/// looks.
void report_trouble(const std::string& container_directory, const std::string& message);

}  // namespace mcr::aggregation
