// SPDX-License-Identifier: BSD-3-Clause
// Opens a directory by a path on which another user may have put a link meanwhile.
#pragma once

#include <string>
#include <vector>

#include "restart/base/file.hpp"
#include "restart/base/file_identity.hpp"

namespace mcr::restart {

/// Opens the directory at an absolute path (O_PATH). Of the symbolic links on the way, follows only those of this
/// user and root. ELOOP: another user's link lies on the way, one that another user may have moved there, or more
/// than forty links. ENOTDIR: a file lies there.
Result<File> open_by_own_way(const std::string& path);

/// As open_by_own_way(), but follows only links that no other user can have put or moved there.
Result<File> open_by_trusted_way(const std::string& path);

/// The end of a way to a file that need not exist: a name in an open directory (O_PATH). The name is no link; it is "." if the
/// way ends with "." or ".." or at the root.
struct WayEnd {
  File directory;
  std::string name;
  std::vector<File> links;  ///< the directories in which the links lie that were followed
};
/// Follows a name, which is absolute or begins in the open directory `start`, by links that no other user can have put
/// or moved there: each is this user's or root's, and lies in a directory to which only this user and root may write.
/// ELOOP: another link, or more than forty.
Result<WayEnd> follow_trusted_links(const File& start, const std::string& name);

/// As follow_trusted_links(). In addition, whoever perhaps may rename a link's directory, or one above it, must be able
/// to exchange the files at the end of the way (may_trust() in restart/base/replacers). ELOOP: somebody else may, too.
Result<WayEnd> follow_links_no_weaker_than_target(const File& start, const std::string& name);

/// True if the name of a file leads to the name `last` in `directory`, and no other user can have put or moved a
/// symbolic link on the way there (follow_trusted_links()). A relative name begins at the working directory.
bool leads_by_trusted_links(const std::string& name, const FileIdentity& directory,
                            const std::string& last);

/// The directory in which this user keeps files of one kind: the value of `variable` (XDG_CONFIG_HOME), or
/// `below_home` (".config") in HOME. Without a "/" at its end; empty: neither variable is an absolute path.
std::string own_place(const char* variable, const std::string& below_home);
/// True if nobody else decides what lies there: no other user owns HOME, or the place that `variable` names, or
/// may write to it, and no other user has put a link on the way. HOME may belong to another user (`su` without `-`).
bool is_own_place(const char* variable);

}  // namespace mcr::restart
