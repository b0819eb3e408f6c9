// SPDX-License-Identifier: BSD-3-Clause
// The sets that a directory holds, and the newest one that a restart can have: whole, and every frame of
// it reads.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "aggregation/commit/set_files.hpp"

namespace mcr::aggregation {

struct SetsIn {
  std::vector<StoredSet> sets;  ///< oldest first
  bool has_damage = false;      ///< containers that cannot be read were left out, and told
};
/// The sets of a directory, a container or a stub. Lines about what is left out are `command`'s, on
/// stderr. An error where the only thing that was named is no container.
Result<SetsIn> sets_in(const std::string& argument, const char* command);

/// Leaves out the sets that do not count for this user's files (restart::Beside), and says so on stderr, as
/// a line of `command`: where several keep files in one directory, each has newest sets of his own.
void leave_out_others(std::vector<StoredSet>& sets, uid_t user, const char* command);

/// Of the whole sets the newest whose containers read to the end; what is wrong with newer ones is
/// said on stderr, as a line of `command`. nullptr: there is none. Reads what a restart would read.
const StoredSet* newest_sound(const std::vector<StoredSet>& sets, const char* command);

/// "whole", "incomplete", "unknown".
const char* wholeness_name(Wholeness wholeness);
/// The same for people, and "file" of a set of one file.
const char* state_name(const StoredSet& set);

}  // namespace mcr::aggregation
