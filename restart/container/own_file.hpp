// SPDX-License-Identifier: BSD-3-Clause
// Tells a container that was written where it lies from a copy, which the user may have made of another user's container.
#pragma once

#include <sys/stat.h>

#include "restart/base/file.hpp"
#include "restart/format/user_block.hpp"

namespace mcr::restart {

/// Writes the file's mark into its user block, which must be there. Call it for each file that gets a container's name.
Result<void> mark_own_file(const File& container);

/// True if the file is certainly not the one that bears this mark. False if the file system records no birth times: some of these
/// do not keep inode numbers either. `status` is that of the file.
bool is_another_file(const FileMark& mark, const File& container, const struct stat& status);

}  // namespace mcr::restart
