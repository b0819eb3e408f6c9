// SPDX-License-Identifier: BSD-3-Clause
// Sets the mark "files of this pattern go native for the launch" (LaunchDirectory::mark_native) in
// a process that has captured nothing itself. The mark on a path's family (masked_name.hpp) means
// that the numbers in its paths are not ranks.
#pragma once

#include <string>

namespace mcr::restart {

/// Returns false if the launch has no leader on this node, or its last leader is removing the
/// launch's directory.
bool mark_native_where_begun(const std::string& stage, const std::string& node,
                             const std::string& launch, const std::string& pattern);

}  // namespace mcr::restart
