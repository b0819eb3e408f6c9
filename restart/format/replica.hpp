// SPDX-License-Identifier: BSD-3-Clause
// A replica: a container that another node keeps in memory until storage has it. The container's own bytes
// come first, so every reader of containers reads a replica. Behind them follows the tail: what a commit
// needs to know of the parts beside their bytes. docs/format.md, "Replica".
#pragma once

#include <cstdint>
#include <vector>

#include "restart/base/file.hpp"
#include "restart/format/journal.hpp"

namespace mcr::restart {

struct Replica {
  std::uint64_t container_bytes = 0;
  std::uint32_t supplement = 0;       ///< number of containers that the group already had
  std::uint64_t clock_behind_ns = 0;  ///< of the launch (LaunchDirectory::clock_behind_ns)
  /// Of the container's parts, in any order, and of the set's native members in the group. Bytes of small
  /// parts are not repeated here.
  std::vector<Journal> journals;
};

Bytes write_replica_tail(const Replica& replica);
/// Reads the tail. Cause::damaged if the file is no whole replica.
Result<Replica> read_replica(const File& file);

}  // namespace mcr::restart
