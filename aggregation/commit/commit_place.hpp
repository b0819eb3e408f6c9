// SPDX-License-Identifier: BSD-3-Clause
// Steps 2 and 3 of a commit: where the container goes, and which containers of its set lie there.
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

/// The parts that containers of the set already list, and the names of containers that are taken.
struct Present {
  std::set<restart::PartId> parts;
  std::set<std::string> names;
};
/// `known` has the names that this leader has listed already. If it is null, the directory is
/// listed.
Present find_present(const restart::ContainerName& where, KnownContainers* known = nullptr);

/// Returns a name of this group that no container has yet.
std::string free_name(const restart::ContainerName& where, const Present& present,
                      std::uint32_t first, std::uint32_t last, std::uint32_t supplement);

/// Returns the next free name of a bundle of this block.
std::string free_bundle_name(const restart::ContainerName& where, const Present& present);

/// Waits until no more files are removed from the directory of the first part, or all stubs of
/// these parts are gone. Returns false if files are still being removed after half a second. A
/// directory of containers made during the removal would make the program's `rmdir` of its parent
/// fail.
bool wait_for_removal(const std::vector<LockedPart>& parts, StubHandles* stubs);

/// Where the stubs of a group's parts are, and therefore where their container goes.
struct Followed {
  StubPlaces places;
  Placement placement;
};
/// Calls wait_for_removal(), then looks for the stubs. Parts whose files the program has removed
/// leave the stage and `parts`, and are added to `left`.
Followed follow_stubs(const restart::LaunchDirectory& directory, StubHandles* stubs,
                      const PlaceByNames& names, std::vector<LockedPart>& parts,
                      std::vector<restart::PartId>& left);

/// An open directory of containers.
struct Place {
  restart::File directory;
  /// The base directory or, if the containers lie outside of it, their parent directory.
  struct stat outer {};
  /// The deepest directory above the files and above the containers. The directories between it and a file may
  /// keep users from the file, but not from the container.
  restart::FileIdentity shared;
  bool is_new = false;
};
/// Removes the directory of containers again if `place` made it and it is empty.
void remove_if_new(const Place& place, const restart::ContainerName& where);

/// Opens the directory of containers, and makes its missing components below the base. ENOENT: the
/// stubs no longer lie below the base, for example because another directory replaced the base.
Result<Place> open_place(const Followed& followed, const std::vector<LockedPart>& parts,
                         const StubHandles* stubs);
/// As open_place(), for use when no stub confirms that the directory is the right one. Follows no link of another
/// user's on the way. The base must belong to this user or to root, or one of this user's groups may write to it.
/// If `begin` is given, that part must have been begun in the base or below it; null if stubs were seen there.
/// Closes the directory of containers to all others, because the files' own directories are not known.
Result<Place> open_place_by_path(const restart::ContainerName& where,
                                 const restart::PartBegin* begin);

/// Closes the directory of containers (restart::close_to) to users whom the directories of the files keep out, and to all
/// others if one of these directories is not known.
Result<void> close_as_files(const Place& place, const restart::ContainerName& where,
                            const std::vector<LockedPart>& parts, const StubHandles* stubs);

/// Moves a container to its stubs if the program renamed the stubs while the container was written.
/// Updates `followed` and the report's path.
Result<void> follow_container(StubHandles* stubs, const PlaceByNames& names,
                              const std::vector<LockedPart>& parts, Followed& followed,
                              CommitReport& report);

/// Writes the message to the leader's log and, if possible, to a log beside the checkpoints, where
/// users look.
void report_trouble(const std::string& container_directory, const std::string& message);

}  // namespace mcr::aggregation
