// SPDX-License-Identifier: BSD-3-Clause
#include "restart/base/replacers.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "restart/base/access_list.hpp"
#include "restart/base/trust.hpp"

namespace mcr::restart {
namespace {

constexpr std::size_t most_levels = 256;

bool is_sticky(const struct stat& status) { return (status.st_mode & S_ISVTX) != 0; }

}  // namespace

Result<Replacers> Replacers::in(const File& directory, uid_t owner, Kind kind) {
  Replacers found;
  File at = MCR_TRY(File::open(directory.descriptor(), ".", O_PATH | O_DIRECTORY));
  struct stat status = MCR_TRY(at.status());
  bool is_adding_enough = kind == Kind::adding;
  for (std::size_t level = 0; level < most_levels; ++level) {
    if (!is_believed(status.st_uid, owner)) found.users_.insert(status.st_uid);
    if (is_adding_enough || !is_sticky(status)) found.add_writers(at, status);
    is_adding_enough = false;
    File above = MCR_TRY(File::open(at.descriptor(), "..", O_PATH | O_DIRECTORY));
    const struct stat outer = MCR_TRY(above.status());
    if (FileIdentity(outer) == FileIdentity(status)) return found;  // the root
    at = std::move(above);
    status = outer;
  }
  errno = ELOOP;
  return system_error("cannot look at all directories above", directory.name());
}

void Replacers::add_writers(const File& directory, const struct stat& status) {
  if (!others_may_write(status)) return;
  // With a list, the group bits are the mask.
  const Bytes list = access_list_of(directory);
  if (!list.empty() && lets_named_write(list)) lists_.insert(list);
  const mode_t of_group =
      list.empty() ? (status.st_mode & S_IRWXG) >> 3 : rights_of_own_group(list);
  if ((of_group & S_IWOTH) != 0) groups_.insert(status.st_gid);
  if ((status.st_mode & S_IWOTH) != 0) is_everybody_ = true;
}

bool Replacers::are_among(const Replacers& others) const {
  const auto are_in = [](const auto& few, const auto& many) {
    return std::includes(many.begin(), many.end(), few.begin(), few.end());
  };
  if (others.is_everybody_) return true;
  return !is_everybody_ && are_in(users_, others.users_) && are_in(groups_, others.groups_) &&
         are_in(lists_, others.lists_);
}

}  // namespace mcr::restart
