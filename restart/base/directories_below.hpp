// SPDX-License-Identifier: BSD-3-Clause
// Directories that are made, and held open, below one that somebody has named. What lies there may be
// another user's, who exchanges it meanwhile: each component is made and opened in the one above it,
// and no link is followed.
#pragma once

#include <map>
#include <string>

#include "restart/base/file.hpp"

namespace mcr::restart {

class DirectoriesBelow {
 public:
  /// `name` as it was given; links on the way there are the caller's own word.
  static Result<DirectoriesBelow> open(const std::string& name);

  /// The directory at `path`, which must be plain, or empty for the upper one itself: made where it is
  /// not there, and open as long as this object, for names in it alone. Cause::usage for a link.
  Result<int> make(const std::string& path);

 private:
  explicit DirectoriesBelow(File top) : top_(std::move(top)) {}
  Result<File> make_in(int above, const std::string& path) const;

  File top_;
  std::map<std::string, File> below_;  ///< by path
};

}  // namespace mcr::restart
