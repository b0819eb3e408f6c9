// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "restart/base/file.hpp"

namespace mcr::restart {

/// True if the file is open under another descriptor, in whatever process of this node. The caller must own the file, or
/// be root. False if storage cannot tell (NFS).
bool is_open_elsewhere(const File& file);

}  // namespace mcr::restart
