// SPDX-License-Identifier: BSD-3-Clause
// The sets whose containers lie in a directory: which are whole, which is the newest, and which
// nobody needs any more.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "aggregation/merge/sets.hpp"
#include "restart/format/index.hpp"

namespace mcr::aggregation {

struct StoredPart {
  PartId part;
  std::uint32_t rank = 0;
  std::string path;  ///< absolute: where the program left its stub
  std::uint32_t mode = 0;
  std::uint64_t size = 0;
};

struct StoredSet {
  SetName name;
  std::uint32_t rank_count = 1;
  std::string prefix;                   ///< that the paths of its containers have in common
  std::vector<std::string> containers;  ///< paths
  std::vector<StoredPart> parts;
  Account account;
  Wholeness wholeness = Wholeness::unknown;
  std::uint64_t created_ns = 0;           ///< of its newest container
  std::uint64_t begun_ns = 0;             ///< when its first part was begun: what orders sets
  std::vector<std::string> natives;       ///< members that are native files, still there
  std::vector<std::string> lost_natives;  ///< and those that are not
  std::uint64_t container_bytes = 0;
  std::vector<std::string> damaged;  ///< what could not be read; such a set is not called whole
};

/// All sets of these containers, oldest first. What cannot be read at all is told in `unreadable`.
std::vector<StoredSet> stored_sets(const std::vector<std::string>& containers,
                                   std::vector<std::string>& unreadable);

/// The newest whole set; nullptr where there is none.
const StoredSet* newest_whole(const std::vector<StoredSet>& sets);

/// Where a part's stub belongs: its path in the index, below the directory that all parts share.
/// That one is where the masked name says, or, where the whole tree was moved, the parent of the
/// containers'.
std::string base_of(const std::string& container, const restart::SetIdentity& set);

/// Sets that may go: no stub below their base names a part of theirs, and a newer whole set of the
/// same masked name exists. Looks at every file below the base, so it is for `mcr gc` and not for a
/// leader.
std::vector<const StoredSet*> superseded(const std::vector<StoredSet>& sets);

}  // namespace mcr::aggregation
