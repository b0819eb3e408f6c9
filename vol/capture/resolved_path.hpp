// SPDX-License-Identifier: BSD-3-Clause
// Where a path leads at this moment, as the kernel resolves it. Later changes of the working
// directory, or of symbolic links on the way, do not affect the result.
#pragma once

#include <sys/stat.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "restart/base/file.hpp"
#include "restart/base/file_identity.hpp"

namespace mcr::vol {

struct ResolvedPath {
  std::string path;       ///< absolute, no symbolic links
  std::string directory;  ///< the same without the last component
  std::string name;       ///< the last component
  /// The directory itself (O_PATH). All operations on the file use this descriptor, because another
  /// user may replace directories above it.
  std::shared_ptr<const restart::File> home;
  struct stat directory_status {};
  std::vector<restart::FileIdentity> above;  ///< restart::directories_above() of `home`
  std::optional<struct stat> status;         ///< of the file, if there is one
  bool is_linked = false;  ///< the last component that was passed is a symbolic link

  [[nodiscard]] Result<restart::File> open(int flags, mode_t mode = 0600) const {
    return restart::File::open(home->descriptor(), name, flags, mode);
  }
};

/// Follows a last component that is a symbolic link, even a dangling one, because O_CREAT makes the
/// file at its target. Cause::system: the directory does not exist or may not be entered.
Result<ResolvedPath> resolve_path(const std::string& name);

}  // namespace mcr::vol
