// SPDX-License-Identifier: BSD-3-Clause
// The names of a launch's containers. A leader lists each directory once, so that a commit of
// 100,000 sets into one directory does not list it 100,000 times.
#pragma once

#include <map>
#include <set>
#include <string>

#include "restart/base/file_identity.hpp"
#include "restart/format/container_name.hpp"

namespace mcr::aggregation {

/// The names that this leader has listed, and the containers that it has made since. Containers
/// that other leaders make are missing, so this class is for launches on one node. Used by one
/// thread.
class KnownContainers {
 public:
  /// Returns the names that begin with the prefix of `where`. Some of these files may be gone.
  std::set<std::string> find(const restart::ContainerName& where);
  /// Called when a container with that name was made.
  void add(const restart::ContainerName& where, const std::string& name);
  /// Called when the directory was removed or replaced.
  void forget(const std::string& directory) { directories_.erase(directory); }

 private:
  struct Directory {
    restart::FileIdentity identity;  ///< tells whether another directory lies at the path now
    std::set<std::string> names;
  };
  std::map<std::string, Directory> directories_;
};

}  // namespace mcr::aggregation
