// SPDX-License-Identifier: BSD-3-Clause
// Keeps a directory of containers open while a command works in it. Other users may replace a directory by
// another one, or by a link, at any moment. So mcr opens the directory once, and then asks the open
// directory who is believed there and which files are its containers.
#pragma once

#include <cstdint>
#include <map>
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
  bool is_linked = false;  ///< the entry `name` was a symbolic link to the containers' directory

  /// Opens `base`. EPERM: `base` is not the directory in which the containers' directory lay when it was
  /// read, or the entry `name` is not the containers' directory.
  [[nodiscard]] Result<restart::File> open_base(int flags) const;
  /// Opens both directories again. EPERM: they are not the two that were read.
  [[nodiscard]] Result<HeldContainers> hold() const;
};

/// Which links a command follows if a link lies in place of the directory itself.
enum class LinksToContainers : std::uint8_t {
  trusted,  ///< those that no other user can have put there (restart::follow_links_no_weaker_than_target())
  any,  ///< all, because the user named the directory; `base` is then the one above the link's target
};

/// A directory of containers and the directory in which it lies, both open by O_PATH.
class HeldContainers {
 public:
  /// Opens the directory at that path. Follows all links further up in the path. EPERM: a link that is not
  /// followed lies in place of the directory.
  static Result<HeldContainers> open(const std::string& directory, LinksToContainers links);
  /// Opens the directory `name` in the open directory `base`, whose path is `base_path`. Follows no links.
  static Result<HeldContainers> in(restart::File base, const std::string& base_path,
                                   const std::string& name);

  [[nodiscard]] const restart::File& base() const { return base_; }
  [[nodiscard]] const restart::File& directory() const { return directory_; }
  [[nodiscard]] const restart::Beside& beside() const { return beside_; }
  [[nodiscard]] const std::shared_ptr<const ContainersPlace>& place() const { return place_; }

  /// Opens the directory again, by which its names can be listed.
  [[nodiscard]] Result<restart::File> open_to_list() const;
  /// Opens a file of the directory for reading. The last component of `path` is the file's name; the whole
  /// path stands in errors. Follows links that no other user can have put there. Never blocks on a pipe.
  [[nodiscard]] Result<restart::File> open_file(const std::string& path) const;

 private:
  HeldContainers(restart::File base, restart::File directory, restart::Beside beside,
                 ContainersPlace place);

  restart::File base_;
  restart::File directory_;
  restart::Beside beside_;
  std::shared_ptr<const ContainersPlace> place_;
};

/// Opens directories of containers by their paths, and keeps each open for later calls.
class HeldByPath {
 public:
  /// `links` counts for a directory that is not yet open.
  Result<std::shared_ptr<const HeldContainers>> hold(
      const std::string& directory, LinksToContainers links = LinksToContainers::trusted);

 private:
  std::map<std::string, std::shared_ptr<const HeldContainers>> held_;
};

/// Returns the error (EPERM) that mcr does not follow the symbolic link at `path` (LinksToContainers::trusted).
Error link_not_followed(const std::string& path, const struct stat& link);
/// Returns the error (EPERM) that `path` was replaced since it was looked at.
Error replaced_meanwhile(const std::string& path);

}  // namespace mcr::aggregation
