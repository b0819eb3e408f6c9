// SPDX-License-Identifier: BSD-3-Clause
// Where the container of a group goes: to where its stubs are now, whatever the program has renamed
// since it closed them (docs/design/commit.md).
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
    here,        ///< the stub, or what its dead writer left instead of it, lies in `directory`
    superseded,  ///< something newer lies at its name in `directory`; the set may need the part
    removed,     ///< removed by the program without a copy; its name is free
    missing,     ///< not found; `directory`: where it lay, "" if that is gone
  };
  Kind kind = Kind::missing;
  std::string directory;
  std::string name = {};  ///< its name in `directory`, if it was found by a search
};

using StubPlaces = std::vector<StubPlace>;  ///< parallel to parts

/// `stubs` may be null: stubs are then looked for at their paths, and searched for if they are not
/// there.
StubPlaces find_stub_places(const std::vector<LockedPart>& parts, StubHandles* stubs);
/// Looks again, without a search: a stub that is not at its path is taken to be where it was
/// `before`.
StubPlaces look_again(const std::vector<LockedPart>& parts, StubHandles* stubs,
                      const StubPlaces& before);
/// Returns how many of these stubs the program has removed, as far as descriptors tell.
std::size_t count_removed(const std::vector<LockedPart>& parts, StubHandles* stubs);

/// The place that follows from the names under which the parts were begun.
struct PlaceByNames {
  restart::ContainerName where;
  std::string far_prefix;  ///< of the container's name in any other directory (far_container_name)
  std::string container_dir;
};

struct Placement {
  restart::ContainerName where;
  bool is_far = false;  ///< in a directory that the names do not lead to
  /// By part: false where its stub may not lead to a container in that place.
  std::vector<bool> is_reached;
};

/// Returns where the container goes:
///  1. below the base directory that all stubs found have in common, or below the directory of the
///     names if all stubs lie in or below it; else
///  2. below the deepest directory that these stubs share, under its far name, because readers look
///     there as well; else
///  3. below the directory of the names, while it exists: readers know it by its path; else
///  4. below the nearest existing directory above that one, as in 2.
/// `places` is parallel to the parts. A stub that was removed since needs no container.
Placement choose_place(const PlaceByNames& names, const StubPlaces& places);

/// Returns where a container goes if its stubs and the directory of their names are gone: as in 4,
/// below a directory of this user or of root.
restart::ContainerName place_above(const PlaceByNames& names);

}  // namespace mcr::aggregation
