// SPDX-License-Identifier: BSD-3-Clause
// What a newer whole set makes superfluous in a directory of containers: with gc=on the sets that
// the program has given up; always the decisions of restarts that are over.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "restart/base/file_identity.hpp"
#include "restart/format/container_name.hpp"
#include "restart/settings/settings.hpp"

namespace mcr::aggregation {

/// A set that a leader has just committed a container of.
struct CommittedSet {
  restart::ContainerName where;
  restart::FileIdentity directory;  ///< of the containers: another one may lie at that path by now
  std::uint32_t first_rank = 0;     ///< of our container
  std::uint32_t rank_count = 1;
  bool collects = false;  ///< gc=on
};

/// Looks whether that set is whole by now and, if it is, removes what it makes superfluous; answers
/// the sets that went. Of the leaders of many nodes only those look that may be the last. A crash
/// between any two steps leaves what the next call finds again; nothing is removed before the
/// directory, and with it the set's containers, are durable.
Result<std::vector<std::string>> collect_after(const CommittedSet& committed);

}  // namespace mcr::aggregation
