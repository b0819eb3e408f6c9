// SPDX-License-Identifier: BSD-3-Clause
// Removes what a newer whole set makes superfluous in a directory of containers: decisions of
// restarts that are over and, with gc=on, the sets that the program has given up.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "restart/base/file_identity.hpp"
#include "restart/format/container_name.hpp"
#include "restart/settings/settings.hpp"

namespace mcr::aggregation {

/// A set of which this leader has just committed a container.
struct CommittedSet {
  restart::ContainerName where;
  restart::FileIdentity
      directory;  ///< of the containers; the path may lead to another directory by now
  std::uint32_t first_rank = 0;  ///< of our container
  std::uint32_t rank_count = 1;
  bool collects = false;  ///< gc=on
};

/// If the set is whole, removes what it makes superfluous, and returns the sets that were removed.
/// With leaders on many nodes, a leader does this only if it may be the last one to commit, or if
/// it has the set's first ranks. Nothing is removed before the directory with the set's containers
/// is durable. If a crash interrupts a removal, the next call finishes it.
Result<std::vector<std::string>> collect_after(const CommittedSet& committed);

}  // namespace mcr::aggregation
