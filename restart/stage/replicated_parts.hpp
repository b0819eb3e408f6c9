// SPDX-License-Identifier: BSD-3-Clause
// Which parts of a launch another node keeps, too (close=replicated).
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "restart/base/part_id.hpp"
#include "restart/stage/team_directory.hpp"

namespace mcr::restart {

class ReplicatedParts {
 public:
  /// `launch_directory`: its path. A stage without replicas has none of its parts on another node.
  explicit ReplicatedParts(const std::string& launch_directory);

  /// True if another node of the job holds a replica with this part as it was published at that time: the program may have written
  /// into the file again since the replica was made. Reads each replica's tail once.
  [[nodiscard]] bool has(const PartId& part, std::uint64_t publish_ns);

 private:
  void read_new();

  std::string launch_directory_;
  std::optional<TeamDirectory> place_;
  /// Inodes and times of replicas. A later replica may have the inode of an earlier one.
  std::set<std::pair<std::uint64_t, std::uint64_t>> read_;
  std::set<std::pair<PartId, std::uint64_t>> parts_;  ///< with the time of their publish
};

}  // namespace mcr::restart
