// SPDX-License-Identifier: BSD-3-Clause
#include "restart/stage/pattern_marks.hpp"

#include <fcntl.h>

#include "restart/base/lock.hpp"
#include "restart/stage/stage.hpp"
#include "restart/stage/stage_files.hpp"

namespace mcr::restart {

bool mark_native_where_begun(const std::string& stage, const std::string& node,
                             const std::string& launch, const std::string& pattern) {
  // A leader holds this lock exclusively while it removes the launch's directory.
  const auto parent = stage_files::open_directory(AT_FDCWD, stage);
  if (!parent || !try_lock(*parent, LockKind::shared).value_or(false)) return false;
  const auto directory =
      LaunchDirectory::open(stage + "/" + stage_files::launch_directory_name(node, launch));
  // The mark is made only if there is a leader. Otherwise the directory would never be removed,
  // because a rank that finds its pattern marked writes natively and starts no leader.
  return directory && directory->has_leader() && directory->mark_native(pattern);
}

}  // namespace mcr::restart
