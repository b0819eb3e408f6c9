// SPDX-License-Identifier: BSD-3-Clause
// Reads everything that a container's index leads to and names all that is damaged.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "restart/container/container_reader.hpp"
#include "restart/container/unpack.hpp"

namespace mcr::restart {

struct VerifyReport {
  std::uint64_t frames = 0;
  std::uint64_t raw_bytes = 0;
  std::uint64_t parts = 0;
  std::vector<std::string> damage;           ///< sentences; empty: none
  std::vector<std::uint32_t> damaged_ranks;  ///< whose parts do not come back, sorted
};

struct VerifyOptions {
  /// Also puts every part together in memory and compares it with its checksum: proves the maps,
  /// not only the frames that they lead to.
  bool whole_parts = true;
  ParallelFor parallel_for = one_after_another;
  Progress progress;
};

/// An error only where not even the tables can be read.
Result<VerifyReport> verify_container(ContainerReader& container, const VerifyOptions& options);

}  // namespace mcr::restart
