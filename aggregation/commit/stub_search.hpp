// SPDX-License-Identifier: BSD-3-Clause
// Looks for stubs that are no longer at their paths and of which the leader has no descriptor: the
// leader that had the descriptor died, or the rank died before it sent one. A stub that is found is
// certainly the right one, because it names its part by a random number. The search is bounded, so
// a stub that is not found may still exist.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "restart/base/file_identity.hpp"
#include "restart/base/part_id.hpp"
#include "restart/format/journal.hpp"

namespace mcr::aggregation {

struct WantedStub {
  restart::FileIdentity held;  ///< of the stub, if a descriptor is held; the stub is then not read
  /// The file that H5Fcreate made for the part; empty if a file existed. A stub in this file counts
  /// wherever it lies.
  restart::FileIdentity begun;
};
using WantedStubs = std::map<restart::PartId, WantedStub>;

/// Searches together take no longer than this.
inline constexpr std::uint64_t longest_search_ms = 2000;

/// Returns the paths of wanted stubs below `root`; directories nearer to it are searched first.
/// Other file systems, links and directories of containers are left out. The search ends at
/// `until_ms` (restart::monotonic_ms()), after 50,000 names or six levels.
std::map<restart::PartId, std::string> search_stubs(const std::string& root, WantedStubs wanted,
                                                    std::uint64_t until_ms);

/// Returns the directory that contains `path` or, if that is gone, the nearest existing directory
/// above it.
std::string nearest_directory(std::string path);
/// Returns where to search for the part's stub, nearest first: in the parent of its directory, and in at most three
/// directories above that in which this user may rename. Any directory in them may have been renamed.
std::vector<std::string> roots_of_search(const restart::PartBegin& begin);

}  // namespace mcr::aggregation
