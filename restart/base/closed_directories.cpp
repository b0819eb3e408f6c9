// SPDX-License-Identifier: BSD-3-Clause
#include "restart/base/closed_directories.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <vector>

#include "restart/base/path_names.hpp"
#include "restart/base/trust.hpp"

namespace mcr::restart {
namespace {

/// Below `base`, the file's own first.
std::vector<std::string> directories_between(const std::string& path, const std::string& base) {
  std::vector<std::string> between;
  for (std::string directory = parent_of(path);
       directory.size() > base.size() && directory.starts_with(base);
       directory = parent_of(directory)) {
    between.push_back(directory);
  }
  return between;
}

}  // namespace

Access closed_by_directories(Access access, const std::string& path, const std::string& base) {
  for (const std::string& directory : directories_between(path, base)) {
    const auto open = File::open(AT_FDCWD, directory, O_PATH | O_DIRECTORY);
    const auto status = open ? open->status() : Result<struct stat>(open.error());
    // A list names users, whom the container's mode cannot tell from others.
    const bool is_known = status && !has_access_list(*open);
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

bool keeps_writers_out(const std::string& path, const std::string& base) {
  struct stat outer {};
  if (::stat(base.c_str(), &outer) != 0) return false;
  constexpr mode_t others = S_IWGRP | S_IWOTH;
  for (const std::string& directory : directories_between(path, base)) {
    struct stat inner {};
    const bool is_as_open = ::stat(directory.c_str(), &inner) == 0 &&
                            (outer.st_mode & others & ~inner.st_mode) == 0 &&
                            ((outer.st_mode & S_IWGRP) == 0 || inner.st_gid == outer.st_gid);
    if (!is_as_open) return true;
  }
  return false;
}

}  // namespace mcr::restart
