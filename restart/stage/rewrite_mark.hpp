// SPDX-License-Identifier: BSD-3-Clause
// The mark in a stub whose file a program has begun to write anew, or to change. With native HDF5 the old data is gone from
// that moment on, or when it is overwritten, so a later chmod of the file or of a directory above is about the new data only. The leader gives the old
// data to nobody but its owner. docs/format.md, "Stub".
#pragma once

#include "restart/base/attributes.hpp"
#include "restart/base/file.hpp"
#include "restart/base/part_id.hpp"
#include "restart/format/stub.hpp"

namespace mcr::restart {

/// Marks the open file, which holds `stub`. Keeps its modification time. Without effect if storage refuses the write.
void mark_rewritten(const File& file, const Stub& stub);

/// True if the file is the part's stub, and no program has begun to write the file anew, not even without mcr.
bool still_shows(const File& file, const PartId& part);

}  // namespace mcr::restart
