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

/// Removes the directory of containers again, if it is this user's and nothing is in it.
void remove_empty_directory(const restart::ContainerName& where);

/// Where the stubs of a group's parts are, and so where their container goes.
struct Followed {
  StubPlaces places;
  Placement placement;
};
/// Parts whose files the program has removed leave the stage and the list, and go to `left`. While a
/// program is removing files one after another this waits, at most half a second, until it has done
/// so: a directory of ours in a directory that is being removed would make the removal fail.
Followed follow_stubs(const restart::LaunchDirectory& directory, StubHandles* stubs,
                      const PlaceByNames& names, std::vector<LockedPart>& parts,
                      std::vector<restart::PartId>& left);

/// A directory of containers that is open.
struct Place {
  restart::File directory;
  struct stat outer {};  ///< the directory above it and above its files
};

/// Makes and opens the directory of containers there, nothing above its base. ENOENT: what was followed to
/// below the base is not there any more, because whoever owns a directory above may have put another one
/// at that path.
Result<Place> open_place(const Followed& followed, const std::vector<LockedPart>& parts,
                         const StubHandles* stubs);
/// The same where no stub says whether it is the right one: only below this user's own directories, root's,
/// and those of his group.
Result<Place> open_place_by_path(const restart::ContainerName& where);

/// Where some who may write to that directory may not write to the directories of the files, they
/// could remove a container but not the files: its sticky bit keeps them from that.
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
