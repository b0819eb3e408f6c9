// SPDX-License-Identifier: BSD-3-Clause
#include "restart/base/replacers.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "restart/base/access_list.hpp"
#include "restart/base/closed_directories.hpp"
#include "restart/base/mapped_ids.hpp"
#include "restart/base/trust.hpp"

namespace mcr::restart {
namespace {

constexpr std::size_t most_levels = 256;

bool has_all(const struct stat& status, mode_t bits) { return (status.st_mode & bits) == bits; }

/// True if, beside the owner, only the group of the owner's number may write: on many systems each user has a group of
/// his own, and umask 002.
bool is_writable_to_own_group_only(const File& directory, const struct stat& status, uid_t owner) {
  return (status.st_mode & S_IWOTH) == 0 && status.st_gid == owner &&
         access_list_of(directory).empty();
}

}  // namespace

Result<Replacers> Replacers::in(const File& directory, uid_t owner, Kind kind, FileIdentity top) {
  Replacers found;
  File at = MCR_TRY(File::open(directory.descriptor(), ".", O_PATH | O_DIRECTORY));
  for (std::size_t level = 0; level < most_levels; ++level) {
    const struct stat status = MCR_TRY(at.status());
    const bool is_top = FileIdentity(status) == top;
    // Permission to enter `top` makes no difference: both trees lie below it.
    if (kind == Kind::certain && !is_top) found.keep_those_who_enter(at, status);
    if (!is_believed(status.st_uid, owner)) found.users_.insert(status.st_uid);
    const bool is_adding_enough = kind == Kind::possible && level == 0;
    if (is_adding_enough || !others_may_only_add(status)) found.add_writers(at, status, kind);
    if (is_top) return found;
    File above = MCR_TRY(File::open(at.descriptor(), "..", O_PATH | O_DIRECTORY));
    if (FileIdentity(MCR_TRY(above.status())) == FileIdentity(status)) return found;  // the root
    at = std::move(above);
  }
  errno = ELOOP;
  return system_error("cannot look at all directories above", directory.name());
}

void Replacers::add_writers(const File& directory, const struct stat& status, Kind kind) {
  if (!others_may_write(status)) return;
  const Bytes list = access_list_of(directory);
  // Without permission to enter, one to write has no effect; but a process may have entered before.
  const bool must_enter = kind == Kind::certain;
  const bool group_writes = has_all(status, S_IWGRP | (must_enter ? S_IXGRP : 0));
  const bool others_write = has_all(status, S_IWOTH | (must_enter ? S_IXOTH : 0));
  // If there is a list, the group bits are its mask, and the list alone says which users may write.
  if (group_writes || (!list.empty() && others_write)) groups_.insert({status.st_gid, list});
  if (must_enter && lets_whole_group_write(list)) groups_.insert({status.st_gid, Bytes()});
  // Members of the group do not count as others.
  if (list.empty() && others_write) is_everybody_ |= group_writes || kind == Kind::possible;
}

/// Forgets users who were found further below and may not enter this directory.
void Replacers::keep_those_who_enter(const File& directory, const struct stat& status) {
  const bool has_list = !access_list_of(directory).empty();
  const bool group_enters = !has_list && has_all(status, S_IXGRP);
  const bool others_enter = group_enters && has_all(status, S_IXOTH);
  if (others_enter) return;
  is_everybody_ = false;
  std::erase_if(groups_, [&](const auto& group) {
    return !group_enters || group.first != status.st_gid || !group.second.empty();
  });
  std::erase_if(users_, [&](uid_t user) { return user != status.st_uid; });
}

bool Replacers::are_among(const Replacers& others) const {
  const auto are_in = [](const auto& few, const auto& many) {
    return std::includes(many.begin(), many.end(), few.begin(), few.end());
  };
  if (others.is_everybody_) return true;
  return !is_everybody_ && are_in(users_, others.users_) && are_in(groups_, others.groups_);
}

Result<bool> others_may_rename(const File& directory, uid_t owner) {
  bool found = false;
  File at = MCR_TRY(File::open(directory.descriptor(), ".", O_PATH | O_DIRECTORY));
  for (std::size_t level = 0; level < most_levels; ++level) {
    const FileIdentity below(MCR_TRY(at.status()));
    at = MCR_TRY(File::open(at.descriptor(), "..", O_PATH | O_DIRECTORY));
    const struct stat status = MCR_TRY(at.status());
    if (FileIdentity(status) == below) return found;  // the root
    const bool lets_nobody_in =
        (status.st_mode & (S_IXGRP | S_IXOTH)) == 0 && access_list_of(at).empty();
    if (lets_nobody_in) found = false;
    if (!is_believed(status.st_uid, owner) && !is_unmapped_user(status.st_uid)) found = true;
    if (!lets_nobody_in && others_may_write(status) && !others_may_only_add(status) &&
        !is_writable_to_own_group_only(at, status, owner))
      found = true;
  }
  errno = ELOOP;
  return system_error("cannot look at all directories above", directory.name());
}

Result<bool> may_trust(const File& there, const File& here, uid_t owner) {
  const FileIdentity top = MCR_TRY(deepest_above(there, here));
  const auto possible = MCR_TRY(Replacers::in(there, owner, Replacers::Kind::possible, top));
  return possible.are_among(MCR_TRY(Replacers::in(here, owner, Replacers::Kind::certain, top)));
}

}  // namespace mcr::restart
