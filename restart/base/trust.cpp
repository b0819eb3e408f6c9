// SPDX-License-Identifier: BSD-3-Clause
#include "restart/base/trust.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "restart/base/mapped_ids.hpp"
#include "restart/base/system.hpp"

namespace mcr::restart {
namespace {

/// True if the error number means that openat2() is missing: Linux is older than 5.6, or the
/// seccomp profile of a Linux container filters the call (EPERM).
bool is_missing(int number) { return number == ENOSYS || number == EPERM || number == EINVAL; }

/// Opens one component after another; a symbolic link at any of them is an error.
Result<File> walk_beneath(int directory, const std::string& path, int flags, mode_t mode) {
  File above;
  int at = directory;
  std::size_t begin = 0;
  for (std::size_t slash = path.find('/'); slash != std::string::npos;
       slash = path.find('/', begin)) {
    above = MCR_TRY(
        File::open(at, path.substr(begin, slash - begin), O_PATH | O_DIRECTORY | O_NOFOLLOW));
    at = above.descriptor();
    begin = slash + 1;
  }
  return File::open(at, path.substr(begin), flags | O_NOFOLLOW, mode);
}

constexpr mode_t write_and_enter = S_IWGRP | S_IXGRP;
constexpr mode_t others_write = S_IWGRP | S_IWOTH;

/// True if users of that class may write in the directory. Write permission has no effect without
/// permission to enter.
bool may_write(const struct stat& status, mode_t write, mode_t search) {
  return (status.st_mode & write) != 0 && (status.st_mode & search) != 0;
}
/// Which classes of users may list a directory, and which may only enter it.
struct Listing {
  bool group_lists;
  bool others_list;
  bool group_only_enters;
  bool others_only_enter;
};
/// `group`: the rights of the owning group, at the place of the group bits.
Listing listing_of(mode_t group, mode_t mode) {
  constexpr mode_t of_group = S_IRGRP | S_IXGRP;
  constexpr mode_t of_others = S_IROTH | S_IXOTH;
  const bool group_lists = (group & of_group) == of_group;
  const bool others_list = (mode & of_others) == of_others;
  return {group_lists, others_list, !group_lists && (group & S_IXGRP) != 0,
          !others_list && (mode & S_IXOTH) != 0};
}
bool is_sticky(const struct stat& status) { return (status.st_mode & S_ISVTX) != 0; }
/// True if all writers of the directory can replace each other's files there.
bool is_shared(const struct stat& status) {
  return !is_sticky(status) &&
         (may_write(status, S_IWGRP, S_IXGRP) || may_write(status, S_IWOTH, S_IXOTH));
}

}  // namespace

bool is_plain_path(std::string_view path) {
  if (path.empty() || path.find('\0') != std::string_view::npos) return false;
  while (true) {
    const std::string_view component = path.substr(0, path.find('/'));
    if (component.empty() || component == "." || component == "..") return false;
    if (component.size() == path.size()) return true;
    path.remove_prefix(component.size() + 1);
  }
}

Result<File> open_beneath(int directory, const std::string& path, int flags, mode_t mode) {
  if (!is_plain_path(path)) {
    errno = EXDEV;
    return system_error("the path leads out of its directory:", path);
  }
  // openat2() refuses O_NONBLOCK together with O_PATH; an open with O_PATH never blocks.
  const int all = flags | O_NOFOLLOW | ((flags & O_PATH) != 0 ? 0 : O_NONBLOCK);
  if (path.find('/') == std::string::npos) return File::open(directory, path, all, mode);
  int descriptor = -1;
  do {
    descriptor = system_calls().open_beneath(directory, path.c_str(), all | O_CLOEXEC, mode);
  } while (descriptor < 0 && errno == EINTR);
  if (descriptor >= 0) return File::spared(descriptor, path);
  if (!is_missing(errno)) return system_error("cannot open", path);
  return walk_beneath(directory, path, all, mode);
}

Result<File> open_file_beneath(int directory, const std::string& path) {
  File file = MCR_TRY(open_beneath(directory, path, O_RDONLY));
  const struct stat status = MCR_TRY(file.status());
  if (S_ISREG(status.st_mode)) return file;
  errno = ENXIO;
  return system_error("cannot use what is not a regular file:", path);
}

bool others_may_write(const struct stat& status) { return (status.st_mode & others_write) != 0; }

bool is_ours_alone(const struct stat& status) {
  return status.st_uid == ::geteuid() && !others_may_write(status);
}

bool is_believed(uid_t writer, uid_t owner) {
  return (writer == owner && !is_unmapped_user(writer)) || writer == 0;
}

uid_t author_of(const struct stat& file, const struct stat& directory) {
  const bool others_add =
      others_may_write(directory) || !is_believed(directory.st_uid, file.st_uid);
  return others_add && others_may_write(file) ? unknown_user : file.st_uid;
}

bool others_may_only_add(const struct stat& directory) {
  return is_sticky(directory) && others_may_write(directory);
}

Result<uid_t> author_of(const File& file, const File& directory) {
  return author_of(MCR_TRY(file.status()), MCR_TRY(directory.status()));
}

bool is_own_link(const struct stat& status) {
  return status.st_uid == ::geteuid() || status.st_uid == 0;
}

bool Beside::believes(uid_t writer, uid_t owner) const {
  if (is_believed(writer, owner)) return true;
  if (are_files_closed_) return false;
  if (writer == outer_.st_uid && !is_unmapped_user(writer)) return true;
  // The writer could put its file into `inner`, which is no more open than `outer`. So the writer
  // may also write to `outer`, and replace files there.
  return is_shared_by_all();
}

bool Beside::writers_may_remove(uid_t owner) const {
  if (has_outer_list_ || is_sticky(inner_) || !is_believed(outer_.st_uid, owner)) return false;
  const bool by_group = (inner_.st_mode & S_IWGRP) != 0 && inner_.st_gid == outer_.st_gid &&
                        (outer_.st_mode & S_IWOTH) == 0;
  return by_group || (inner_.st_mode & S_IWOTH) != 0;
}

// It does not matter whether others may enter `outer`: a process that has entered `inner` before stays in it.
bool Beside::others_may_add() const {
  return may_write(inner_, S_IWGRP, S_IXGRP) || may_write(inner_, S_IWOTH, S_IXOTH) ||
         lets_named_write_;
}

uid_t Beside::author(const struct stat& file) const {
  if (is_open_to_strangers()) return unknown_user;
  if (is_shared_by_all()) return author_of(file, inner_);
  if (is_believed(inner_.st_uid, file.st_uid)) return file.st_uid;
  return inner_.st_uid == outer_.st_uid ? inner_.st_uid : unknown_user;
}

bool Beside::is_open_to_strangers() const {
  return !is_known_ || (!is_shared_by_all() && others_may_add());
}

bool Beside::adders_may_remove(uid_t owner) const {
  const bool only_owner_or_host_adds =
      is_believed(inner_.st_uid, owner) || inner_.st_uid == outer_.st_uid;
  return is_known_ &&
         (is_shared_by_all() || (only_owner_or_host_adds && !others_may_write(inner_)));
}

Beside Beside::for_closed_files() const {
  Beside closed = *this;
  closed.are_files_closed_ = true;
  return closed;
}

bool Beside::is_shared_by_all() const {
  return !are_files_closed_ && is_shared(outer_) && !is_owner_denied_ && is_no_more_open();
}

bool Beside::may_be_used() const {
  const bool is_trusted = is_believed(inner_.st_uid, ::geteuid()) ||
                          inner_.st_uid == outer_.st_uid ||
                          (is_shared(outer_) && !is_owner_denied_);
  return is_trusted && is_no_more_open();
}

bool Beside::is_no_more_open() const {
  const bool is_same_group = inner_.st_gid == outer_.st_gid;
  const bool group = (inner_group_ & write_and_enter) == write_and_enter;
  const bool group_above = (outer_group_ & write_and_enter) == write_and_enter;
  const bool others = may_write(inner_, S_IWOTH, S_IXOTH);
  const bool others_above = may_write(outer_, S_IWOTH, S_IXOTH);
  // In a directory of another group, members of the group of `outer` may count as others, and others as
  // members. So both must be able to write to `outer`.
  const bool all_above = others_above && group_above;
  if (group && !(is_same_group ? group_above : all_above)) return false;
  if (others && !(is_same_group ? others_above : all_above)) return false;
  if (lets_denied_write_ || (lets_more_write_ && (!all_above || has_outer_list_))) return false;
  return !others_may_only_add(outer_) || !others_may_add();
}

bool Beside::is_no_more_listed() const {
  const Listing above = listing_of(outer_group_, outer_.st_mode);
  // In a directory of another group, members may count as others, and others as members.
  const bool is_mixed =
      inner_.st_gid != outer_.st_gid && (above.group_only_enters || above.others_only_enter);
  const bool group = (inner_group_ & (S_IRGRP | S_IXGRP)) != 0;
  const bool others = (inner_.st_mode & (S_IROTH | S_IXOTH)) != 0;
  if (group && (above.group_only_enters || is_mixed)) return false;
  if (others && (above.others_only_enter || is_mixed)) return false;
  return !lets_more_list_ || (above.group_lists && above.others_list && !has_outer_list_);
}

mode_t mode_beside(const struct stat& outer) {
  mode_t mode = 0777;
  if (others_may_only_add(outer)) mode &= ~others_write;
  const bool keeps_group = (outer.st_mode & S_ISGID) != 0 || outer.st_gid == ::getegid();
  const bool group_above = may_write(outer, S_IWGRP, S_IXGRP);
  const bool others_above = may_write(outer, S_IWOTH, S_IXOTH);
  if (!group_above || !(keeps_group || others_above)) mode &= ~static_cast<mode_t>(S_IWGRP);
  if (!others_above || !(keeps_group || group_above)) mode &= ~static_cast<mode_t>(S_IWOTH);
  // Names in the new directory tell the names of files in `outer`, so users who may not list `outer` get no rights.
  const Listing above = listing_of(outer.st_mode, outer.st_mode);
  // In a directory of another group, members may count as others, and others as members.
  if (!above.group_lists || (!keeps_group && above.others_only_enter))
    mode &= ~static_cast<mode_t>(S_IRWXG);
  if (!above.others_list || (!keeps_group && above.group_only_enters))
    mode &= ~static_cast<mode_t>(S_IRWXO);
  return is_sticky(outer) ? mode | S_ISVTX : mode;
}

std::string user_text(uid_t user) { return "user " + std::to_string(user); }

}  // namespace mcr::restart
