// SPDX-License-Identifier: BSD-3-Clause
// Whether somebody has read a file, or listed a directory, since we wrote there: he may have copied
// what he saw (`mv` to another file system copies, then removes). Access times tell it on local file
// systems that are not mounted without them; what we read ourselves leaves them alone
// (restart::File::leave_access_time).
#pragma once

#include <cstdint>
#include <string>

#include "restart/base/file.hpp"

namespace mcr::aggregation {

/// On NFS a file that is removed while it is open keeps a name (.nfs…), and its directory cannot be
/// removed.
bool keeps_names_of_open_files(const restart::File& file);

/// Whether who reads the file leaves a trace, as far as the mount says: a local file system that keeps
/// access times, and makes no copies without a read. A parallel file system does not.
bool shows_reads(const restart::File& file);

/// False where it is certain that nobody has read the file since it was last written. The file may have
/// lost its name, and may be open by O_PATH. Finding out is a read.
bool may_have_been_read(const restart::File& file);

/// False where it is certain that nobody has listed the directory since `since_ns`, when a file was
/// made in it.
bool may_have_been_listed(const std::string& directory, std::uint64_t since_ns);

}  // namespace mcr::aggregation
