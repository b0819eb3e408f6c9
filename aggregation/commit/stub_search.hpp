// SPDX-License-Identifier: BSD-3-Clause
// Looks for stubs that lie no longer at their paths, and of which there is no descriptor: the leader
// that had it died, or the rank died before it could send one. What is found is certain, because a
// stub names its part by a random number; that nothing is found proves nothing, because the search is
// bounded.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "restart/base/part_id.hpp"

namespace mcr::aggregation {

struct WantedStub {
  std::uint64_t device = 0;  ///< of the stub, where a descriptor of it is held; then it is not read
  std::uint64_t inode = 0;
};
using WantedStubs = std::map<restart::PartId, WantedStub>;

/// Paths of wanted stubs below `root`, directories nearer to it first. Other file systems, links and
/// directories of containers are left out. The search ends after two seconds, 50,000 names or six
/// levels.
std::map<restart::PartId, std::string> search_stubs(const std::string& root, WantedStubs wanted);

/// The directory of that path or, where it is gone, the nearest one above that is there.
std::string nearest_directory(std::string path);
/// From where a stub is searched that lay at `path`: from above its own directory.
std::string root_of_search(const std::string& path);

}  // namespace mcr::aggregation
