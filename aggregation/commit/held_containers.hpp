// SPDX-License-Identifier: BSD-3-Clause
// A directory of containers for as long as a command works in it. Other users may exchange directories for
// others, or for links, at any moment. So the directory is opened once; who is believed there, and which
// files are its containers, is then asked of the open directory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "restart/base/file.hpp"
#include "restart/base/trust.hpp"

namespace mcr::aggregation {

class HeldContainers;

/// Which directory of containers was read, and where it was. Keeps nothing open, because a command may read
/// thousands of directories.
struct ContainersPlace {
  std::string directory;  ///< its path
  std::string base;  ///< path of the directory in which it lies; stubs of its parts lie below that
  std::string name;  ///< its name in `base`
  restart::DirectoryPair directories;

  /// Opens `base`. EPERM: it is not the directory in which the containers lay when they were read, or its
  /// entry `name` is not their directory.
  [[nodiscard]] Result<restart::File> open_base(int flags) const;
  /// Opens both directories again. EPERM: they are not those that were read.
  [[nodiscard]] Result<HeldContainers> hold() const;
};

/// Which links a command follows that lie in place of the directory itself.
enum class LinksToContainers : std::uint8_t {
  own,  ///< those of this user and of root
  any,  ///< all: the user named the directory. `base` is the directory above the link's target then
};

/// A directory of containers and the directory in which it lies, both open by O_PATH.
class HeldContainers {
 public:
  /// Links further up in the path are followed. EPERM: a link that is not followed lies there.
  static Result<HeldContainers> open(const std::string& directory, LinksToContainers links);
  /// Opens the directory `name` in the open directory `base`, whose path is `base_path`. Follows no links.
  static Result<HeldContainers> in(restart::File base, const std::string& base_path,
                                   const std::string& name);

  [[nodiscard]] const restart::File& base() const { return base_; }
  [[nodiscard]] const restart::File& directory() const { return directory_; }
  [[nodiscard]] const restart::Beside& beside() const { return beside_; }
  [[nodiscard]] const std::shared_ptr<const ContainersPlace>& place() const { return place_; }

  /// Opens the file of the directory that has the last component of `path` as its name, for reading; `path`
  /// is for errors. A link is followed if it is this user's or root's. Never blocks on a pipe.
  [[nodiscard]] Result<restart::File> open_file(const std::string& path) const;

 private:
  HeldContainers(restart::File base, restart::File directory, restart::Beside beside,
                 ContainersPlace place);

  restart::File base_;
  restart::File directory_;
  restart::Beside beside_;
  std::shared_ptr<const ContainersPlace> place_;
};

/// Returns the error (EPERM) that `path` was replaced since it was looked at.
Error is_exchanged(const std::string& path);

}  // namespace mcr::aggregation
