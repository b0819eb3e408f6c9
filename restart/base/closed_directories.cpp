// SPDX-License-Identifier: BSD-3-Clause
#include "restart/base/closed_directories.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <vector>

#include "restart/base/path_names.hpp"
#include "restart/base/trust.hpp"

namespace mcr::restart {
namespace {

constexpr std::size_t most_levels = 256;

struct Level {
  struct stat status {};
  bool has_list = false;
};

/// Returns the directories from `directory` up to `base`, `base` itself excluded; nothing if `base` is
/// not above `directory`.
std::optional<std::vector<Level>> levels_below(const File& directory, FileIdentity base) {
  std::vector<Level> levels;
  auto at = File::open(directory.descriptor(), ".", O_PATH | O_DIRECTORY);
  while (at && levels.size() < most_levels) {
    const auto status = at->status();
    if (!status) return std::nullopt;
    if (FileIdentity(*status) == base) return levels;
    const bool is_root =
        !levels.empty() && FileIdentity(levels.back().status) == FileIdentity(*status);
    if (is_root) return std::nullopt;
    levels.push_back({*status, has_access_list(*at)});
    at = File::open(at->descriptor(), "..", O_PATH | O_DIRECTORY);
  }
  return std::nullopt;
}

}  // namespace

Result<File> open_directory_of(const std::string& path, FileIdentity file) {
  File directory = MCR_TRY(File::open(AT_FDCWD, parent_of(path), O_PATH | O_DIRECTORY));
  if (leads_to(directory.descriptor(), name_of(path), file)) return directory;
  errno = ESTALE;
  return system_error("another file is now at", path);
}

Access closed_by_directories(Access access, const File& directory, FileIdentity base) {
  const auto between = levels_below(directory, base);
  if (!between) {
    access.mode &= 0700;
    access.list.clear();
    return access;
  }
  for (const Level& level : *between) {
    // An access list names single users, and the container's mode cannot express those.
    const bool lets_its_group = !level.has_list && (level.status.st_mode & S_IXGRP) != 0;
    const bool lets_group = lets_its_group && level.status.st_gid == access.group;
    const bool lets_others = lets_its_group && (level.status.st_mode & S_IXOTH) != 0;
    if (!lets_others) access.mode &= ~mode_t{07};
    if (!lets_group && !lets_others) {
      access.mode &= ~mode_t{070};
      access.list.clear();
    }
  }
  return access;
}

bool keeps_writers_out(const File& directory, const struct stat& base) {
  const auto between = levels_below(directory, FileIdentity(base));
  constexpr mode_t others = S_IWGRP | S_IWOTH;
  return !between || std::any_of(between->begin(), between->end(), [&](const Level& level) {
    const bool is_as_open = (base.st_mode & others & ~level.status.st_mode) == 0 &&
                            ((base.st_mode & S_IWGRP) == 0 || level.status.st_gid == base.st_gid);
    return !is_as_open;
  });
}

bool is_at_or_above(FileIdentity base, const File& directory) {
  return levels_below(directory, base).has_value();
}

}  // namespace mcr::restart
