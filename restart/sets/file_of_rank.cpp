// SPDX-License-Identifier: BSD-3-Clause
#include "restart/sets/file_of_rank.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/base/trust.hpp"

namespace mcr::restart {
namespace {

/// Looks at a file that cannot be opened, or at a link that leads to no file. Returns false if neither
/// lies there.
bool look_at_closed(const std::string& path, struct stat& status) {
  return system_calls().fstatat(AT_FDCWD, path.c_str(), &status, 0) == 0 ||
         system_calls().fstatat(AT_FDCWD, path.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0;
}

/// True if the owner of each symbolic link between `base` and `path` is believed about files of `owner`.
bool are_links_believed(const std::string& path, const std::string& base, uid_t owner) {
  const std::string above = base == "/" ? base : base + "/";
  std::size_t end = path.starts_with(above) ? above.size() : path.rfind('/') + 1;
  do {
    end = path.find('/', end + 1);
    const std::string step = path.substr(0, end);
    struct stat status {};
    if (system_calls().fstatat(AT_FDCWD, step.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISLNK(status.st_mode) && !is_believed_among(step, base, status, owner))
      return false;
  } while (end != std::string::npos);
  return true;
}

}  // namespace

FileAt file_of_rank(const std::string& path, const std::string& base, uid_t owner) {
  using Kind = FileAt::Kind;
  if (!are_links_believed(path, base, owner)) return {};
  FileAt found = file_at(AT_FDCWD, path, Links::followed);
  if (found.kind == Kind::nothing) return {};
  if (found.kind == Kind::closed && !look_at_closed(path, found.status)) return {};
  if (!is_believed_among(path, base, found.status, owner)) return {};
  return found;
}

}  // namespace mcr::restart
