// SPDX-License-Identifier: BSD-3-Clause
// Creates directories below a directory that the user named, and holds them open. Another user may
// own these directories and replace them at any time. So each component is made and opened in the
// open directory above it, and no link is followed.
#pragma once

#include <map>
#include <string>

#include "restart/base/file.hpp"

namespace mcr::restart {

class DirectoriesBelow {
 public:
  /// Opens `name`. Links in `name` are followed, because the caller chose that path.
  static Result<DirectoriesBelow> open(const std::string& name);

  /// Returns a descriptor of the directory at `path`, a plain path (empty: the upper directory
  /// itself), and makes the directory if it is missing. The descriptor is valid as long as this
  /// object. Use it only to reach names in the directory. Cause::usage for a link.
  Result<int> make(const std::string& path);

 private:
  explicit DirectoriesBelow(File top) : top_(std::move(top)) {}
  Result<File> make_in(int above, const std::string& path) const;

  File top_;
  std::map<std::string, File> below_;  ///< by path
};

}  // namespace mcr::restart
