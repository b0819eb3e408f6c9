// SPDX-License-Identifier: BSD-3-Clause
// Whether the same users may replace all files of a set. If a user may replace one rank's file but not
// another's, that one file must not choose, after a crash, which set all ranks open.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace mcr::restart {

/// Two files of a set that not the same users may replace or write to.
struct UnequalPlaces {
  std::string one;
  std::string other;
};

/// Compares the users who may replace each rank's file or write to it. A path without a file counts,
/// too, because a user may put a file there. `base` is the directory that all paths share; what users
/// may do in it or above makes no difference. `owner` owns the files. He, root and his private group
/// (the group with his number) do not count. Every process that sees the same directories gets the same
/// answer. The cost is a few system calls for each path and each directory.
std::optional<UnequalPlaces> unequal_places(const std::vector<std::string>& paths,
                                            const std::string& base, uid_t owner);

/// True if other users than `owner`, root and his private group may put a file at the path, if it is free, but not replace the file that
/// is there (a sticky directory), or if that is not known.
bool strangers_may_add(const std::string& path, uid_t owner);

}  // namespace mcr::restart
