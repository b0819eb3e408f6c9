// SPDX-License-Identifier: BSD-3-Clause
// The sets in a directory, and the newest sound set: a sound set is whole, and every frame of it is
// intact.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "aggregation/commit/set_files.hpp"

namespace mcr::aggregation {

struct SetsIn {
  std::vector<StoredSet> sets;                        ///< oldest first
  std::string top;                                    ///< the named directory
  std::optional<restart::FileIdentity> top_identity;  ///< of that directory
  bool has_damage = false;  ///< unreadable containers were left out and reported
  int code = 0;             ///< exit code of the last of them
};
/// Returns the sets of a container or a stub, or of a directory and all directories below it. Sets
/// of different directories are different sets, even if their names are equal: a copy of a
/// directory has the same names. Prints to stderr, as lines of `command`, which containers and
/// directories it leaves out. Fails if `argument` is a file that is not a container.
Result<SetsIn> sets_in(const std::string& argument, const char* command);
/// The same, apart for each directory of containers. The named directory and its mcr/ count as one.
Result<std::vector<SetsIn>> sets_by_directory(const std::string& argument, const char* command);

/// Leaves out the sets that do not count for files of `user` (restart::Beside), and reports them on
/// stderr as a line of `command`. If several users keep files in one directory, each user has a
/// newest set. A set below the named directory counts only if the directories on the way to it do.
void leave_out_others(SetsIn& found, uid_t user, const char* command);

/// Returns the newest whole set whose containers have no damage; nullptr if there is none. Reports
/// damage in newer sets on stderr, as a line of `command`. Reads the same frames as a restart.
const StoredSet* newest_sound(const std::vector<StoredSet>& sets, const char* command);

/// "whole", "incomplete", "unknown".
const char* wholeness_name(Wholeness wholeness);
/// The same for messages to users; "file" for a set of one file.
const char* state_name(const StoredSet& set);

}  // namespace mcr::aggregation
