// SPDX-License-Identifier: BSD-3-Clause
// Marks a stub when a program creates its file again (H5Fcreate), or begins to change it. A later
// chmod of the file, or of a directory above it, is about the new data. So the leader gives the old
// data to its owner only. docs/format.md, "Stub".
#pragma once

#include "restart/base/file.hpp"
#include "restart/base/part_id.hpp"
#include "restart/format/stub.hpp"
#include "restart/stage/stage.hpp"

namespace mcr::restart {

/// Marks `stub` in the open file, unless its part is certainly in a container or another stub has
/// been written over it. Keeps the file's modification time. Without effect if storage refuses the
/// write. `launch`: this process's.
void mark_rewritten(const LaunchDirectory& launch, const File& file, const Stub& stub);

/// True if the file is the part's stub, and no program has begun to write the file anew, not even a
/// program without mcr.
bool still_shows(const File& file, const PartId& part);

}  // namespace mcr::restart
