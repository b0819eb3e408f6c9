// SPDX-License-Identifier: BSD-3-Clause
// The names of a launch's containers, listed once for each directory: a leader that commits 100,000
// sets into one directory does not list it 100,000 times.
#pragma once

#include <map>
#include <set>
#include <string>

#include "restart/base/file_identity.hpp"
#include "restart/format/container_name.hpp"

namespace mcr::aggregation {

/// What this leader listed, and what it added since. Other leaders' containers of the same set may
/// be missing, so this is only for launches on one node. Used by one thread.
class KnownContainers {
 public:
  /// Returns the names that begin with the prefix of `where`. Files of some names may be gone.
  std::set<std::string> find(const restart::ContainerName& where);
  /// Called when a container of that set was made.
  void add(const restart::ContainerName& where, const std::string& name);
  /// Called when the directory was removed or replaced.
  void forget(const std::string& directory) { directories_.erase(directory); }

 private:
  struct Directory {
    restart::FileIdentity identity;  ///< a program may put another directory at the path
    std::set<std::string> names;
  };
  std::map<std::string, Directory> directories_;
};

}  // namespace mcr::aggregation
