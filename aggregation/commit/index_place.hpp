// SPDX-License-Identifier: BSD-3-Clause
// Resolves the paths in a container's index. Whatever the container says, a path leads only to a
// place below the parent of the directory of containers.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "aggregation/commit/held_containers.hpp"
#include "restart/base/file.hpp"
#include "restart/base/file_identity.hpp"
#include "restart/format/index.hpp"

namespace mcr::aggregation {

struct IndexPlace {
  std::string text;   ///< the program's path, if the tree was not moved
  std::string below;  ///< the path from HeldContainers::base(); empty: it leads out of there
  std::string container_dir;  ///< the setting container_dir=
};

/// Opens the directory of the file at `path`, which is relative to the open directory `base`. Follows no
/// links.
Result<restart::File> open_parent_beneath(const restart::File& base, const std::string& path,
                                          int flags);

IndexPlace place_in_tree(const HeldContainers& home, const restart::SetIdentity& set,
                         const std::string& path);

/// A native member of a container's set that is still there.
struct OpenNative {
  restart::File file;
  std::string path;
  bool is_aside = false;    ///< kept aside, because a newer file replaced it
  restart::File directory;  ///< in which the file was found (O_PATH)
};
/// The names of files by inode, for each directory that was asked about. A directory is listed only
/// once, so the names are those of the first call.
class NamesByInode {
 public:
  /// Returns the name of the regular file with that inode; empty if there is none.
  std::string find(const restart::File& directory, ino_t inode);

  /// The present path of a renamed directory, by the path that containers tell, launch and sequence. Empty if none
  /// was found.
  std::map<std::tuple<std::string, std::string, std::uint64_t>, std::string> renamed;

 private:
  std::map<restart::FileIdentity, std::map<ino_t, std::string>> directories_;
};

/// Opens the native member with `flags`: at `place`, where it was kept aside, or under another name
/// in the directory of `place`, because the program renamed it, or with container_dir=../NAME in a renamed
/// directory, if its note says that it is the set's. Cause::damaged: no such file is the
/// member and belongs to `owner`. With O_PATH, this user need not be able to read the file.
Result<OpenNative> open_native(const HeldContainers& home, const restart::SetIdentity& set,
                               const IndexPlace& place, const restart::NativeMember& native,
                               uid_t owner, int flags, NamesByInode& names);

}  // namespace mcr::aggregation
