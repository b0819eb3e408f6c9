// SPDX-License-Identifier: BSD-3-Clause
// Access times as evidence of reads: a process that has read a stub may have copied it. Our own reads do
// not change them (File::leave_access_time).
#pragma once

#include "restart/base/file.hpp"

namespace mcr::restart {

/// True if, as far as the mount shows, every read of the file leaves a trace: the file system is local,
/// keeps access times, and cannot copy without a read. False on parallel file systems.
bool shows_reads(const File& file);

/// True if another process has read the file since it was last written. The answer is right where
/// shows_reads() is true.
bool was_read(const File& file);

}  // namespace mcr::restart
