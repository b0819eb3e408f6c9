// SPDX-License-Identifier: BSD-3-Clause
// Whether the same users may replace all files of a set. If not, a user who may replace only one rank's file could
// otherwise choose by it, after a crash, which set all ranks open.
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

/// Compares who may replace the ranks' files, or write to them. A path without a file counts, too: somebody may put one
/// there. `base` is the directory that all paths share; what users may do in it or above makes no difference. `owner` is
/// the files' owner: he, root and his private group (with his number) do not count. Every process that sees the same
/// directories gets the same answer. Takes two system calls for each path and each directory.
std::optional<UnequalPlaces> unequal_places(const std::vector<std::string>& paths,
                                            const std::string& base, uid_t owner);

}  // namespace mcr::restart
