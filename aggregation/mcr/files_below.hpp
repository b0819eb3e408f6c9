// SPDX-License-Identifier: BSD-3-Clause
// A look at every file below a directory, in which others may have files and directories too: what
// cannot be looked at keeps nothing else from it.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "restart/base/file.hpp"

namespace mcr::aggregation {

struct NotLookedAt {
  std::vector<std::string> closed;    ///< directories, each with the reason
  std::vector<std::string> too_deep;  ///< directories below so many others
};

/// Gives `look` the path of each regular file below `top`, which is called `root`, in at most `levels`
/// directories below each other. No link is followed, and one directory is open at a time.
NotLookedAt look_below(const restart::File& top, const std::string& root, std::size_t levels,
                       const std::function<void(const std::string& path)>& look);

}  // namespace mcr::aggregation
