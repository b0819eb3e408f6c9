// SPDX-License-Identifier: BSD-3-Clause
// Visits every file below a directory that may also hold files and directories of other users. If a
// directory cannot be read, the visit goes on with the others.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "restart/base/file.hpp"

namespace mcr::aggregation {

struct NotLookedAt {
  std::vector<std::string> closed;  ///< directories, each with the reason
  /// Directories that were not entered, because they are more than `levels` levels below `top`.
  std::vector<std::string> too_deep;
};

/// Calls `look` with the path of each regular file in `top` and in directories at most `levels` levels
/// below it. `root` is the path of `top`. Links are not followed. One directory is open at a time.
NotLookedAt look_below(const restart::File& top, const std::string& root, std::size_t levels,
                       const std::function<void(const std::string& path)>& look);

}  // namespace mcr::aggregation
