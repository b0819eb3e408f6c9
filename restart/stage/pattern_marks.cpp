// SPDX-License-Identifier: BSD-3-Clause
#include "restart/stage/pattern_marks.hpp"

#include <fcntl.h>

#include "restart/base/lock.hpp"
#include "restart/stage/stage.hpp"
#include "restart/stage/stage_files.hpp"

namespace mcr::restart {

bool mark_native_where_begun(const std::string& stage, const std::string& node,
                             const std::string& launch, const std::string& pattern) {
  // The leader that removes the directory holds this lock alone meanwhile.
  const auto parent = stage_files::open_directory(AT_FDCWD, stage);
  if (!parent || !try_lock(*parent, LockKind::shared).value_or(false)) return false;
  const auto directory =
      LaunchDirectory::open(stage + "/" + stage_files::launch_directory_name(node, launch));
  // Without a leader nobody would ever remove the directory: a rank that enters it, finds its pattern
  // marked and writes natively starts none.
  return directory && directory->has_leader() && directory->mark_native(pattern);
}

}  // namespace mcr::restart
