// SPDX-License-Identifier: BSD-3-Clause
// Where the container of a group goes. It follows the stubs, even if the program has renamed them
// since it closed the files (docs/design/commit.md).
#pragma once

#include <string>
#include <vector>

#include "aggregation/commit/locked_parts.hpp"
#include "aggregation/commit/stub_handles.hpp"
#include "restart/format/container_name.hpp"

namespace mcr::aggregation {

/// Where the stub of one part is.
struct StubPlace {
  enum class Kind {
    here,  ///< the stub, or the file that its dead writer left in its place, lies in `directory`
    superseded,  ///< a newer file has its name in `directory`; the set may still need the part
    removed,     ///< the program removed the stub without a copy; its name is free
    missing,     ///< not found; `directory` is where it lay, or "" if that is gone or replaced
  };
  Kind kind = Kind::missing;
  std::string directory;
  std::string name = {};  ///< the stub's name in `directory`, if a search found it
};

using StubPlaces = std::vector<StubPlace>;  ///< parallel to parts

/// If `stubs` is null, stubs are looked for at their paths, and searched for if they are not there.
StubPlaces find_stub_places(const std::vector<LockedPart>& parts, StubHandles* stubs);
/// Looks again, without a search. A stub that is not at its path is taken to be where it was
/// `before`.
StubPlaces look_again(const std::vector<LockedPart>& parts, StubHandles* stubs,
                      const StubPlaces& before);
/// Returns how many of these stubs the program has removed. Counts only stubs with a descriptor.
std::size_t count_removed(const std::vector<LockedPart>& parts, StubHandles* stubs);

/// The place that follows from the names under which the parts were begun.
struct PlaceByNames {
  restart::ContainerName where;
  restart::PartBegin begin;  ///< of one of the parts
  std::string far_prefix;  ///< of the container's name in any other directory (far_container_name)
  std::string container_dir;
};

struct Placement {
  restart::ContainerName where;
  bool is_far = false;  ///< in a directory to which the parts' paths do not lead
  /// By part: false if the part's stub may not lead to a container in that place.
  std::vector<bool> is_reached;
};

/// Returns where the container goes:
///  1. below the base directory that all stubs found have in common, or below the base in `names`
///     if all stubs lie below that; else
///  2. below the deepest directory that these stubs share, under the far name, because readers look
///     there as well; else
///  3. below the base in `names`, while it exists (and, if nothing shows where the files are, no other user can take it
///     away), because readers find it by its path; else below the base of the first stub found; else
///  4. below the nearest directory above the base in `names`, under the far name.
/// Stubs in other users' directories (OthersDirectories) do not count in 1 to 3. Stubs in a directory of this
/// user's to which others may write count while the base in `names` exists; the container goes there only if no
/// stub is missing.
/// A directory that the program made after the part was begun is neither the base in 1 and 3 nor
/// the directory in 4: it only has the path of one that was removed, perhaps after it was copied.
/// `places` is parallel to the parts. A part whose stub was removed needs no container.
Placement choose_place(const PlaceByNames& names, const StubPlaces& places);

/// Returns where a container goes if its stubs are gone: as in 4, below a directory of this user or
/// of root.
restart::ContainerName place_above(const PlaceByNames& names);

}  // namespace mcr::aggregation
