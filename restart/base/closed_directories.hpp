// SPDX-License-Identifier: BSD-3-Clause
// How the directories above a file restrict access to it. A file of ours in another directory must
// be restricted as much if it holds the same data. The directories are found by ".." from the
// file's own directory upwards, because its path may lead elsewhere by now.
#pragma once

#include <string>
#include <vector>

#include "restart/base/attributes.hpp"
#include "restart/base/file_identity.hpp"

namespace mcr::restart {

/// Opens the directory of `path` (O_PATH). ESTALE: `path` does not lead to `file` any more.
Result<File> open_directory_of(const std::string& path, FileIdentity file);

/// `access` is that of a file in `directory`. Returns the access for a file of ours with the same
/// data in `base` or below it. A user who may not enter `directory` (each rank may have a directory
/// of mode 0700) gets no access to our file. A user who may enter `directory` but not list it gets none either, because
/// the names of containers contain the names of files. If `base` is not above `directory`, only the owner gets access.
Access closed_by_directories(Access access, const File& directory, FileIdentity base);

/// Users who may write to a directory `base`. The program's files lie in directories below it, to which
/// these users may not write.
struct KeptOut {
  mode_t writers = 0;     ///< S_IWGRP: the group, S_IWOTH: all other users
  bool removers = false;  ///< they may add files below, but remove only their own (sticky bit)
  bool owner = false;     ///< the owner of `base`

  [[nodiscard]] bool any() const { return writers != 0 || removers || owner; }
  /// Nothing is known of the directories: they may keep everybody out.
  static KeptOut all();
};
KeptOut operator|(KeptOut one, KeptOut other);

/// Looks at `directory`, and at each directory between it and `base`.
KeptOut kept_out(const File& directory, const struct stat& base);

/// Returns the identities of the directories above `directory`, nearest first, at most `most`. Stops after the first one for which
/// is_own_or_projects() is false: its owner can exchange what lies below it.
std::vector<FileIdentity> directories_above(const File& directory, std::size_t most);

/// True if other users may move this directory, or one above it, into another directory. For that, a user needs
/// two rights: to write to it, and to rename it (as the owner of the directory above, or as one who may write to that).
/// True also if that cannot be determined.
bool others_may_move(const std::string& directory);

/// True if `base` is `directory` or lies above it.
bool is_at_or_above(FileIdentity base, const File& directory);

/// Returns the deepest directory that is at or above both.
Result<FileIdentity> deepest_above(const File& one, const File& other);

}  // namespace mcr::restart
