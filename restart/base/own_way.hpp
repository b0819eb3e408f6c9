// SPDX-License-Identifier: BSD-3-Clause
// Opens a directory by a path on which another user may have put a link meanwhile.
#pragma once

#include <string>

#include "restart/base/file.hpp"

namespace mcr::restart {

/// Opens the directory at an absolute path (O_PATH). Of the symbolic links on the way, follows only those of this
/// user and root. ELOOP: another user's link lies on the way, one that another user may have moved there, or more
/// than forty links. ENOTDIR: a file lies there.
Result<File> open_by_own_way(const std::string& path);

}  // namespace mcr::restart
