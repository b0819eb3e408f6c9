// SPDX-License-Identifier: BSD-3-Clause
// How the directories above a file restrict access to it. A file of ours in another directory must
// be restricted as much if it holds the same data. The directories are found by ".." from the
// file's own directory upwards, because its path may lead elsewhere by now.
#pragma once

#include <string>

#include "restart/base/attributes.hpp"

namespace mcr::restart {

/// Opens the directory of `path` (O_PATH). ESTALE: `path` does not lead to `file` any more.
Result<File> open_directory_of(const std::string& path, FileIdentity file);

/// `access` is that of a file in `directory`. Returns the access for a file of ours with the same
/// data in `base` or below it. A user who cannot reach `directory` (each rank may have a directory
/// of mode 0700) gets no access to our file either. If `base` is not above `directory`, only the
/// owner gets access.
Access closed_by_directories(Access access, const File& directory, FileIdentity base);

/// Users who may write to a directory, but not to all of the directories below it down to some files.
struct KeptOut {
  mode_t writers = 0;  ///< S_IWGRP, S_IWOTH: who may not write to these directories
  /// Users who may write to these directories, but not remove others' files there (sticky bit).
  bool removers = false;
  bool owner = false;  ///< the owner of the upper directory, who may not write to these directories

  [[nodiscard]] bool any() const { return writers != 0 || removers || owner; }
  /// Nothing is known of the directories: they may keep everybody out.
  static KeptOut all();
};
KeptOut operator|(KeptOut one, KeptOut other);

/// Returns which users who may write to `base` are kept out by a directory between `base` and `directory`, or by
/// `directory` itself.
KeptOut kept_out(const File& directory, const struct stat& base);

/// True if other users may move this directory, or one above it, into a directory of their own: they may write to it, and
/// may rename it in the directory above, as its owner or one of its writers. (A user who may only rename it cannot take it
/// away.) True also if that cannot be determined.
bool others_may_move(const std::string& directory);

/// True if `base` is `directory` or lies above it.
bool is_at_or_above(FileIdentity base, const File& directory);

/// Returns the deepest directory that is at or above both.
Result<FileIdentity> deepest_above(const File& one, const File& other);

}  // namespace mcr::restart
