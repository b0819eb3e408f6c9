// SPDX-License-Identifier: BSD-3-Clause
// Who could exchange what lies in a directory: the question behind "who could have replaced the file itself"
// (restart/base/trust) where two files lie in different trees.
#pragma once

#include <set>

#include "restart/base/file.hpp"

namespace mcr::restart {

/// The users, beside an owner and root, who may put something else in the place of the owner's files in a directory:
/// those who may write to it, its owner, and those who may rename it or a directory above it.
class Replacers {
 public:
  /// Adding: users also count who may add files to the directory, but not replace the owner's (sticky bit).
  enum class Kind : std::uint8_t { replacing, adding };
  /// `directory` may have been opened by O_PATH.
  static Result<Replacers> in(const File& directory, uid_t owner, Kind kind);

  /// True if each of these users is one of `others`.
  [[nodiscard]] bool are_among(const Replacers& others) const;

 private:
  void add_writers(const File& directory, const struct stat& status);

  std::set<uid_t> users_;
  std::set<gid_t> groups_;
  std::set<Bytes> lists_;  ///< access lists that let users or groups write whom they name
  bool is_everybody_ = false;
};

}  // namespace mcr::restart
