// SPDX-License-Identifier: BSD-3-Clause
// What a path stands for at this moment, as the kernel sees it: independent of the working
// directory and of symbolic links on the way.
#pragma once

#include <sys/stat.h>

#include <memory>
#include <optional>
#include <string>

#include "restart/base/file.hpp"

namespace mcr::vol {

struct ResolvedPath {
  std::string path;       ///< absolute, no symbolic links
  std::string directory;  ///< the same without the last component
  std::string name;       ///< the last component
  /// The directory itself (O_PATH). What is done at the path is done in it, because a neighbour above
  /// may put another directory in its place.
  std::shared_ptr<const restart::File> home;
  struct stat directory_status {};
  std::optional<struct stat> status;  ///< of what lies there; none: nothing

  [[nodiscard]] Result<restart::File> open(int flags, mode_t mode = 0600) const {
    return restart::File::open(home->descriptor(), name, flags, mode);
  }
};

/// A last component that is a symbolic link is followed, also where it leads to nothing: that is
/// where O_CREAT makes a file. Cause::system: the directory is not there or may not be entered.
Result<ResolvedPath> resolve_path(const std::string& name);

}  // namespace mcr::vol
