// SPDX-License-Identifier: BSD-3-Clause
// Looks at the names of other ranks' files, at which other users may have put files and links.
#pragma once

#include <sys/types.h>

#include <string>

#include "restart/stage/file_at.hpp"

namespace mcr::restart {

/// Returns the file at another rank's name `path`, below `base`, which all ranks share. Links are
/// followed. The name counts as empty unless the file and each link on the way from `base` to it belong
/// to users who are believed about files of `owner` (is_believed_among()). For Kind::closed, the status
/// is that of the file or, if it cannot be examined, of the link to it.
FileAt file_of_rank(const std::string& path, const std::string& base, uid_t owner);

}  // namespace mcr::restart
