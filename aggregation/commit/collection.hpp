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
      directory;  ///< of the containers' directory: another directory may lie at the path by now
  std::uint32_t first_rank = 0;  ///< of our container
  std::uint32_t rank_count = 1;
  bool collects = false;  ///< gc=on
};

/// If that set is whole, removes what it makes superfluous; returns the sets that were removed.
/// With leaders on many nodes, only a leader that may be the last one to commit looks. The next
/// call finishes what a crash left: nothing is removed before the directory, with the set's
/// containers, is durable.
Result<std::vector<std::string>> collect_after(const CommittedSet& committed);

}  // namespace mcr::aggregation
