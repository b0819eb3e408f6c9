// SPDX-License-Identifier: BSD-3-Clause
// Reads everything that a container's index leads to, and names all damage.
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
  std::vector<std::string> damage;           ///< one sentence each; empty: no damage
  std::vector<std::uint32_t> damaged_ranks;  ///< ranks whose parts cannot be restored, sorted
};

struct VerifyOptions {
  /// Also assembles every part in memory and compares it with its checksum. This proves the maps,
  /// not only the frames that they lead to.
  bool whole_parts = true;
  /// Also decodes every frame. Without, only the checksums of the stored frames are compared, so the work is bounded by the file's size,
  /// whatever a foreign container says of its frames.
  bool decodes = true;
  ParallelFor parallel_for = one_after_another;
  Progress progress;
};

/// Fails only if the tables cannot be read; other damage is listed in the report.
Result<VerifyReport> verify_container(ContainerReader& container, const VerifyOptions& options);

}  // namespace mcr::restart
