// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/closed_directories.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include "restart/base/path_names.hpp"
#include "restart/base/trust.hpp"

namespace mcr::aggregation {

restart::Access closed_by_directories(restart::Access access, const std::string& path,
                                      const std::string& base) {
  std::string directory = restart::parent_of(path);
  for (; directory.size() > base.size() && directory.starts_with(base);
       directory = restart::parent_of(directory)) {
    const auto open = restart::File::open(AT_FDCWD, directory, O_PATH | O_DIRECTORY);
    const auto status = open ? open->status() : Result<struct stat>(open.error());
    // A list names users, whom the container's mode cannot tell from others.
    const bool is_known = status && !restart::has_access_list(*open);
    const bool lets_its_group = is_known && (status->st_mode & S_IXGRP) != 0;
    const bool lets_group = lets_its_group && status->st_gid == access.group;
    const bool lets_others = lets_its_group && (status->st_mode & S_IXOTH) != 0;
    if (!lets_others) access.mode &= ~mode_t{07};
    if (!lets_group && !lets_others) {
      access.mode &= ~mode_t{070};
      access.list.clear();
    }
  }
  return access;
}

}  // namespace mcr::aggregation
