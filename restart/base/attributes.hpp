// SPDX-License-Identifier: BSD-3-Clause
// Who may use a file, and what else the file system keeps of it beside its bytes. A file of ours
// that takes another one's place, or holds another one's data, gets these from it: never from the
// umask of the process that happens to write it.
#pragma once

#include <sys/types.h>

#include <vector>

#include "restart/base/file.hpp"

namespace mcr::restart {

struct Access {
  gid_t group = 0;
  /// Permission bits, never setuid, setgid or sticky; with an access list, its mask stands for the
  /// group's.
  mode_t mode = 0600;
  Bytes list;  ///< the POSIX access list as the kernel gives it; empty: none

  bool operator==(const Access&) const = default;
};

Result<Access> access_of(const File& file);

/// For a file with data of all of these: who reads it could read each of them, and it is as open as
/// that allows. The owner may always read and write. Nothing may be executed.
Access common_access(const std::vector<Access>& all);

/// Makes `file`, which only its owner can use yet, as open as `access` says, and no more: where it
/// cannot get the group or the list, it stays closed to those whom these are about.
Result<void> give_access(const File& file, const Access& access);

/// Access, `user.*` attributes and security label of `from`, for a file that takes its place. Of another
/// user's file nothing is taken over: `to` becomes as open as this user's new files are, as far as
/// `from` was open too.
Result<void> copy_attributes(const File& from, const File& to);

/// Lets those list and enter `directory` who can list and enter `parent`, in which it lies,
/// whatever the umask took away when it was made.
Result<void> open_as_parent(const File& directory, const File& parent);

}  // namespace mcr::restart
