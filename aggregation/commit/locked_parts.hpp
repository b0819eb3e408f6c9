// SPDX-License-Identifier: BSD-3-Clause
// Step 1 of a commit: the parts, locked so that no writer changes them.
#pragma once

#include <vector>

#include "restart/base/file.hpp"
#include "restart/stage/stage.hpp"

namespace mcr::aggregation {

struct LockedPart {
  restart::PartId id;
  restart::Journal journal;
  restart::File bytes;  ///< not open if the part is a native file
  std::uint64_t size = 0;
  bool is_native = false;
};

/// Leaves out parts that are gone or that their writers have taken back. Stops when descriptors run
/// out; the remaining parts are locked after these have left the stage.
std::vector<LockedPart> lock_parts(const restart::LaunchDirectory& directory,
                                   const std::vector<restart::PartId>& ids);

}  // namespace mcr::aggregation
