// SPDX-License-Identifier: BSD-3-Clause
// The sets in a directory, and the newest sound set: a sound set is whole, and every frame of it is
// intact.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "aggregation/commit/set_files.hpp"

namespace mcr::aggregation {

struct SetsIn {
  std::vector<StoredSet> sets;  ///< oldest first
  bool has_damage = false;      ///< unreadable containers were left out and reported
};
/// Returns the sets of a directory, a container or a stub. Prints to stderr, as lines of `command`,
/// which containers it leaves out. Fails if `argument` is a file that is not a container.
Result<SetsIn> sets_in(const std::string& argument, const char* command);

/// Leaves out the sets that do not count for files of `user` (restart::Beside), and reports them on
/// stderr as a line of `command`. If several users keep files in one directory, each user has a
/// newest set.
void leave_out_others(std::vector<StoredSet>& sets, uid_t user, const char* command);

/// Returns the newest whole set whose containers have no damage; nullptr if there is none. Reports
/// damage in newer sets on stderr, as a line of `command`. Reads the same frames as a restart.
const StoredSet* newest_sound(const std::vector<StoredSet>& sets, const char* command);

/// "whole", "incomplete", "unknown".
const char* wholeness_name(Wholeness wholeness);
/// The same for messages to users; "file" for a set of one file.
const char* state_name(const StoredSet& set);

}  // namespace mcr::aggregation
