// SPDX-License-Identifier: BSD-3-Clause
// Where the paths that a container's index names lead: below the directory in which that of the
// containers stands, and nowhere else, whatever the container says.
#pragma once

#include <sys/types.h>

#include <string>

#include "restart/base/file.hpp"
#include "restart/base/file_identity.hpp"
#include "restart/format/index.hpp"

namespace mcr::aggregation {

struct IndexPlace {
  std::string text;           ///< as the program knew it, where the tree was not moved
  std::string base;           ///< the directory, seen from the container
  std::string below;          ///< empty: the path leads out of there
  std::string container_dir;  ///< the setting
};
IndexPlace place_in_tree(const std::string& container, const restart::SetIdentity& set,
                         const std::string& path);

/// A native member of a container's set that is still there.
struct OpenNative {
  restart::File file;
  std::string path;
  bool is_aside = false;  ///< kept aside, because a newer file replaced it
};
/// Opens it with `flags` where the container's owner has it: at `place`, or kept aside. Cause::damaged:
/// neither is that owner's file. With O_PATH the file need not be readable for this user.
Result<OpenNative> open_native(const std::string& container, const IndexPlace& place,
                               const restart::NativeMember& native, uid_t owner, int flags);

/// Names in a directory may lead elsewhere by now: to what nobody looked at (EPERM).
Error is_exchanged(const std::string& path);

/// Opens `base` if the directory of containers that was read, `identity`, is in it under the name
/// `containers`. A link in that one's place must be this user's, or root's.
Result<restart::File> open_above(const std::string& base, const std::string& containers,
                                 const restart::FileIdentity& identity, int flags);

}  // namespace mcr::aggregation
