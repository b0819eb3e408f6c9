// SPDX-License-Identifier: BSD-3-Clause
// A directory that the command makes and perhaps removes again. Other users may be able to rename it meanwhile, and to
// put a link, or another directory of this user's, at its name. So the directory is recognised by its inode, in the
// directory above, which is held open.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "codecs/base/result.hpp"
#include "restart/base/file.hpp"

namespace mcr::aggregation {

class MadeDirectory {
 public:
  /// Opens the directory `name`, which this process has just made in the open directory `home`. `begun_ns`: when it
  /// began to make it (CLOCK_REALTIME). ESTALE: another directory is there by now, because it has files, or belongs to
  /// another user.
  static Result<MadeDirectory> just_made(restart::File home, std::string name,
                                         std::uint64_t begun_ns);

  /// Open for listing.
  [[nodiscard]] const restart::File& directory() const { return directory_; }

  /// Removes the directory if it is empty and still has its name. An older directory stays.
  void remove() const;

 private:
  MadeDirectory(restart::File home, std::string name, restart::File directory,
                std::uint64_t begun_ns);

  restart::File home_;
  std::string name_;
  restart::File directory_;
  std::uint64_t begun_ns_;
};

/// Makes the directory at `path` and the missing directories above it. Follows links that exist already, because the
/// user named the path, and none in place of a directory that it makes. Nothing: the directory existed, or another
/// directory has taken its place.
Result<std::optional<MadeDirectory>> make_directories(const std::string& path);

}  // namespace mcr::aggregation
