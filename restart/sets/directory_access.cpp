// SPDX-License-Identifier: BSD-3-Clause
#include "restart/sets/directory_access.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "restart/base/access_list.hpp"
#include "restart/base/system.hpp"
#include "restart/base/trust.hpp"

namespace mcr::restart {
namespace {

/// Gives the directory, which has no access list, that of the directory above, within the directory's own mode. False,
/// and no list, if that is not possible.
bool take_list_of(const File& parent, const File& directory) {
  const Bytes list = access_list_of(parent);
  const auto outer = parent.status();
  const auto inner = directory.status();
  if (list.empty() || !outer || !inner || outer->st_gid != inner->st_gid) return false;
  const mode_t mode = S_IRWXU | (inner->st_mode & outer->st_mode & (S_IRWXG | S_IRWXO));
  const Bytes within = list_with_mode(list, mode);
  return system_calls().fsetxattr(directory.descriptor(), access_list_name, within.data(),
                                  within.size(), 0) == 0;
}

/// Undoes take_list_of(): the kernel has put the list's mask into the group bits.
void give_list_back(const File& directory, mode_t mode) {
  (void)system_calls().fremovexattr(directory.descriptor(), access_list_name);
  (void)system_calls().fchmod(directory.descriptor(), mode & 07777);
}

/// True if the directory is still empty, and no more open than the directory above.
bool is_closed_enough(const File& parent, const File& directory) {
  const auto beside = Beside::of(parent, directory);
  return beside && beside->is_no_more_open() && beside->is_no_more_listed() && is_empty(directory);
}

/// True if files of mcr lie in a directory to which others may not write: then it is a directory of containers.
bool holds_our_files(const File& directory, const struct stat& status) {
  if (others_may_write(status) || has_access_list(directory)) return false;
  const auto names = list_directory(directory.descriptor(), ".");
  return names && std::any_of(names->begin(), names->end(),
                              [](const std::string& name) { return name.starts_with("set-"); });
}

/// True if other users may rename a directory of this user's in `parent`, or move one there. The sticky bit forbids the
/// former only.
bool others_may_move_into(const File& parent, const struct stat& status) {
  return !is_believed(status.st_uid, ::geteuid()) || others_may_write(status) ||
         has_access_list(parent);
}

}  // namespace

Result<mode_t> mode_of_new(const File& parent) {
  const bool inherits = has_default_list(parent);
  return mode_beside(MCR_TRY(inherits ? parent.status() : status_with_own_group(parent)));
}

bool is_empty(const File& directory) {
  const auto names = list_directory(directory.descriptor(), ".");
  return names && names->empty();
}

bool is_born_since(const File& directory, const struct timespec& moment) {
  struct statx status {};
  if (::statx(directory.descriptor(), "", AT_EMPTY_PATH, STATX_BTIME, &status) != 0 ||
      (status.stx_mask & STATX_BTIME) == 0)
    return true;
  return std::pair<std::int64_t, std::int64_t>(status.stx_btime.tv_sec, status.stx_btime.tv_nsec) >=
         std::pair<std::int64_t, std::int64_t>(moment.tv_sec, moment.tv_nsec);
}

bool may_be_changed(const File& parent, const File& directory) {
  constexpr std::int64_t new_seconds = 3;
  const auto outer = parent.status();
  if (!outer) return false;
  if (!others_may_move_into(parent, *outer)) return true;
  // A rename into `parent` changes its status: if the directory was born after that, nobody has renamed it.
  struct timespec since = outer->st_ctim;
  since.tv_sec -= 1;  // the directory above is changed later than the new one is born
  if (is_born_since(directory, since)) return true;
  system_calls().clock_gettime(CLOCK_REALTIME_COARSE, &since);
  since.tv_sec -= new_seconds;
  return is_born_since(directory, since);
}

void let_owner_enter(const File& parent, const std::string& name) {
  const auto directory = open_beneath(parent.descriptor(), name, O_PATH | O_DIRECTORY);
  const auto status = directory ? directory->status() : Result<struct stat>(directory.error());
  if (!status || status->st_uid != ::geteuid() || (status->st_mode & S_IRWXU) == S_IRWXU) return;
  (void)::chmod(link_path(directory->descriptor()).c_str(), (status->st_mode & 07777) | S_IRWXU);
}

void let_group_enter(const File& parent, const File& directory) {
  constexpr mode_t of_group = S_IRGRP | S_IXGRP;
  constexpr mode_t of_others = S_IROTH | S_IXOTH;
  const auto outer = parent.status();
  const auto inner = directory.status();
  if (!outer || !inner || inner->st_gid == outer->st_gid) return;
  if ((outer->st_mode & of_others) == of_others || (outer->st_mode & of_group) != of_group) return;
  if (system_calls().fchown(directory.descriptor(), static_cast<uid_t>(-1), outer->st_gid) != 0)
    return;
  // If others may enter the directory above, mode_beside() has taken all rights from the former group.
  const bool had_none = (inner->st_mode & S_IRWXG) == 0 && (outer->st_mode & S_IXOTH) != 0;
  if (had_none)
    (void)system_calls().fchmod(directory.descriptor(), (inner->st_mode & 07777) | of_group);
}

Result<void> close_as_far(const File& parent, const File& directory) {
  const struct stat inner = MCR_TRY(directory.status());
  const Beside beside = MCR_TRY(Beside::of(parent, directory));
  const bool is_more_open = !beside.is_no_more_open() || !beside.is_no_more_listed();
  if (inner.st_uid != ::geteuid() || !is_more_open || !is_empty(directory) ||
      !may_be_changed(parent, directory))
    return {};
  const mode_t wanted = mode_beside(MCR_TRY(status_with_own_group(parent)));
  for (const char* list : {access_list_name, default_list_name})
    (void)system_calls().fremovexattr(directory.descriptor(), list);
  mode_t mode =
      (inner.st_mode & wanted) | (wanted & S_ISVTX) | (inner.st_mode & (S_ISVTX | S_ISGID));
  if (take_list_of(parent, directory)) {
    if (is_closed_enough(parent, directory)) return {};
    give_list_back(directory, mode);
  }
  // A mode cannot express to whom the list of `parent` denies write permission.
  if (has_access_list(parent)) mode &= ~mode_t{S_IWGRP | S_IWOTH};
  (void)system_calls().fchmod(directory.descriptor(), mode & 07777);
  if (is_empty(directory)) return {};
  (void)system_calls().fchmod(directory.descriptor(), inner.st_mode & 07777);
  return Error{Cause::system, "another user has put a file into a directory that was just made",
               EPERM};
}

Result<void> close_as_entered(const File& parent, const File& directory) {
  const struct stat outer = MCR_TRY(parent.status());
  const struct stat inner = MCR_TRY(directory.status());
  const Bytes outer_list = access_list_of(parent);
  const auto lets_all = [&] {
    const auto now = directory.status();
    return now && lets_all_enter(outer, outer_list, *now, access_list_of(directory));
  };
  if (inner.st_uid != ::geteuid() || lets_all()) return {};
  if (!may_be_changed(parent, directory) && !holds_our_files(directory, inner)) return {};
  const bool has_list = has_access_list(directory);
  if (!has_list && take_list_of(parent, directory)) {
    if (lets_all()) return {};
    give_list_back(directory, inner.st_mode);
  }
  if (others_may_write(inner)) return {};
  mode_t mode = inner.st_mode & 07777 & ~mode_t{S_IRWXG | S_IRWXO};
  // A mode cannot express the rights that a list gives to users, or those of users who are in another group.
  const bool is_plain = outer_list.empty() && !has_list && outer.st_gid == inner.st_gid;
  if (is_plain && (outer.st_mode & S_IXGRP) != 0) mode |= inner.st_mode & S_IRWXG;
  if (is_plain && (outer.st_mode & S_IXOTH) != 0) mode |= inner.st_mode & S_IRWXO;
  if (system_calls().fchmod(directory.descriptor(), mode) == 0) return {};
  return system_error("cannot close", directory.name());
}

}  // namespace mcr::restart
