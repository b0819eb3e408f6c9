// SPDX-License-Identifier: BSD-3-Clause
// Who could exchange what lies in a directory: the question behind "who could have replaced the file itself"
// (restart/base/trust) where two files lie in different trees.
#pragma once

#include <set>
#include <utility>

#include "restart/base/file.hpp"

namespace mcr::restart {

/// The users who may replace an owner's files in a directory: they may write to the directory, own it, or may rename it or
/// a directory above it. The owner of the files and root do not count.
class Replacers {
 public:
  /// certain: users who may write without any doubt. A user who may not enter a directory above does not count.
  /// possible: users who perhaps may write, also those who may only add files to the directory itself (sticky bit).
  enum class Kind : std::uint8_t { certain, possible };
  /// Looks at `directory` and those above it, up to and with the directory `top`. They may have been opened by O_PATH.
  static Result<Replacers> in(const File& directory, uid_t owner, Kind kind, FileIdentity top);

  /// True if each of these users is one of `others`.
  [[nodiscard]] bool are_among(const Replacers& others) const;

 private:
  void add_writers(const File& directory, const struct stat& status, Kind kind);
  void keep_those_who_enter(const File& directory, const struct stat& status);

  std::set<uid_t> users_;
  /// A directory's group, with the access list that decides about its members and others; empty: none.
  std::set<std::pair<gid_t, Bytes>> groups_;
  bool is_everybody_ = false;
};

/// True if a user other than the owner and root may be able to rename this directory, or one above it, and to put another in
/// its place. Walks up to the root. Directories below one that nobody else may enter do not count: processes that entered
/// before it was closed are not considered here. A group with the owner's number does not count, because as a rule it has
/// no other member. In a user namespace, an owner who is not mapped does not count: he is usually root.
/// others_may_move() in restart/base/closed_directories differs: a move into another directory also needs the right to write to the
/// moved directory itself.
Result<bool> others_may_rename(const File& directory, uid_t owner);

/// True if each user who perhaps may put files into `there` could certainly replace the owner's files in `here`, too. What
/// users may do in a directory above both makes no difference.
Result<bool> may_trust(const File& there, const File& here, uid_t owner);

}  // namespace mcr::restart
