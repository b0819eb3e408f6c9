// SPDX-License-Identifier: BSD-3-Clause
// Whether a file was read, or a directory listed, by another process since we wrote there. That
// process may have copied what it saw (`mv` to another file system copies, then removes). Access
// times show this on local file systems that record access times; our own reads do not change them
// (restart::File::leave_access_time).
#pragma once

#include <cstdint>
#include <string>

#include "restart/base/file.hpp"

namespace mcr::aggregation {

/// True if the file system keeps a name (.nfs…) for a file that is removed while it is open, as NFS
/// does. The file's directory can then not be removed.
bool keeps_names_of_open_files(const restart::File& file);

/// True if every read of the file leaves a trace, as far as the mount says: a local file system
/// that keeps access times and cannot copy without a read. False on parallel file systems.
bool shows_reads(const restart::File& file);

/// False only if the file was certainly not read since it was last written. The file may have lost
/// its name, and may be open with O_PATH. This function reads the file itself.
bool may_have_been_read(const restart::File& file);

/// False only if the directory was certainly not listed since `since_ns`, when a file was made in
/// it.
bool may_have_been_listed(const std::string& directory, std::uint64_t since_ns);

}  // namespace mcr::aggregation
