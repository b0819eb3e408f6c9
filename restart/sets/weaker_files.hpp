// SPDX-License-Identifier: BSD-3-Clause
// Which of the ranks' files a user may exchange or change who could not do so with the file of another rank
// (docs/design/restart.md, "Weaker files").
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace mcr::restart {

struct RankFile {
  std::uint64_t number = 0;  ///< of the rank, or at {part}
  std::string path;
  struct stat status {};  ///< of the file to which the path leads
};

/// Returns the numbers of the files that some user perhaps may exchange or change, who certainly could not exchange or change
/// another one of them. If all directories below `base`, which all files share, and all files have equal rights, that is none.
/// `owner` and root do not count as users. Looks at each directory once.
std::set<std::uint64_t> weaker_files(const std::vector<RankFile>& files, const std::string& base,
                                     uid_t owner);

}  // namespace mcr::restart
