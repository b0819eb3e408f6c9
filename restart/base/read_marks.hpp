// SPDX-License-Identifier: BSD-3-Clause
// Tells whether another process has read a file, or listed a directory, since we wrote there: that process
// may have copied what it saw (`mv` to another file system copies, then removes). The evidence is the
// access time, on local file systems that record it. Our own reads do not change it
// (File::leave_access_time).
#pragma once

#include <cstdint>
#include <string>

#include "restart/base/file.hpp"

namespace mcr::restart {

/// True if the file system keeps a name (.nfs…) for a file that is removed while it is open, as NFS does.
/// The file's directory can then not be removed. True also if the file system does not tell its type.
bool keeps_names_of_open_files(const File& file);

/// True if, as far as the mount shows, every read of the file leaves a trace: the file system is local,
/// keeps access times, and cannot copy without a read. False on parallel file systems.
bool shows_reads(const File& file);

/// True if another process has read the file since it was last written. The answer is right where
/// shows_reads() is true.
bool was_read(const File& file);

/// False only if the file was certainly not read since it was last written. The file may have lost its
/// name, and may be open with O_PATH. To find out, this function reads the file.
bool may_have_been_read(const File& file);

/// False only if the directory was certainly not listed since `since_ns`. At that time, a file must have
/// been made in the directory.
bool may_have_been_listed(const std::string& directory, std::uint64_t since_ns);

}  // namespace mcr::restart
