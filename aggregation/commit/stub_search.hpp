// SPDX-License-Identifier: BSD-3-Clause
// Looks for stubs that are no longer at their paths and of which the leader has no descriptor: the
// leader that had the descriptor died, or the rank died before it sent one. A stub names its part by a random number, so what is found is
// the stub or a copy of it, for example in a backup of the run. The search is bounded, so
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
  /// The directory in which the part was begun; empty: not known. It keeps its identity if it is renamed.
  restart::FileIdentity home;
};
using WantedStubs = std::map<restart::PartId, WantedStub>;

struct StubFound {
  std::string path;
  bool may_be_copy = false;  ///< it is neither in the file that is wanted nor in the directory
};
using StubsFoundBelow = std::map<restart::PartId, StubFound>;

/// Searches together take no longer than this.
inline constexpr std::uint64_t longest_search_ms = 2000;

/// Returns the wanted stubs below `root`; directories nearer to it are searched first. A stub that may be a copy is returned only if no other one
/// was found.
/// Other file systems, links and directories of containers are left out. The search ends at
/// `until_ms` (restart::monotonic_ms()), after 50,000 names or six levels.
StubsFoundBelow search_stubs(const std::string& root, WantedStubs wanted, std::uint64_t until_ms);
/// What search_stubs() looks for. `held`: as in WantedStub.
WantedStub wanted_stub(const restart::PartBegin& begin, const restart::FileIdentity& held);

/// Returns the directory that contains `path` or, if that is gone, the nearest existing directory
/// above it.
std::string nearest_directory(std::string path);
/// Returns where to search for the part's stub, nearest first: in the parent of its directory, and in at most three
/// directories above that in which this user may rename. Any directory in them may have been renamed.
std::vector<std::string> roots_of_search(const restart::PartBegin& begin);

}  // namespace mcr::aggregation
