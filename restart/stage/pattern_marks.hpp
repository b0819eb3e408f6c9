// SPDX-License-Identifier: BSD-3-Clause
// The mark "files of this pattern go native for the launch" (LaunchDirectory::mark_native), by a process
// that has captured nothing itself. That of a path's pattern (masked_name.hpp: its family) says that
// the numbers of the family are not ranks.
#pragma once

#include <string>

namespace mcr::restart {

/// False: the launch has no leader here, or its last one is just removing the launch's directory.
bool mark_native_where_begun(const std::string& stage, const std::string& node,
                             const std::string& launch, const std::string& pattern);

}  // namespace mcr::restart
