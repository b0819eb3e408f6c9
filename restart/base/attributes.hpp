// SPDX-License-Identifier: BSD-3-Clause
// Access rights and extended attributes of files. A file of ours that replaces another file, or
// that holds another file's data, gets its access rights from that file. The umask of the writing
// process does not decide them.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <vector>

#include "restart/base/file.hpp"

namespace mcr::restart {

struct Access {
  gid_t group = 0;
  /// Permission bits, without setuid, setgid and sticky. If there is an access list, the group bits
  /// hold the list's mask.
  mode_t mode = 0600;
  Bytes list;  ///< the POSIX access list as the kernel gives it; empty: no list

  bool operator==(const Access&) const = default;
};

Result<Access> access_of(const File& file);

/// Returns the access for a file with data of all of these files: only users who may read each of
/// these files may read it. The owner may always read and write. Execute permission is never
/// granted.
Access common_access(const std::vector<Access>& all);
/// The same for a container, which only its owner may write.
Access readers_of(const std::vector<Access>& all);

/// Returns `access` if it lets nobody read whom `limit` shuts out, else what both allow.
Access within(const Access& access, const Access& limit);

/// Returns the access without its list. The group keeps only the rights that the list gives to the
/// owning group and to all named users and groups; users outside the group get no access. So no
/// user whom the list shuts out gets access.
Access without_list(Access access);

/// Returns the mode for a file that is restored from a container: `mode`, which the file had when
/// it was written (0: not known), but no more open than the container, because the owner may have
/// closed the container since. If the container has an access list, only the owner gets access,
/// because a mode cannot express a list.
mode_t mode_within(mode_t mode, const Access& container);

/// Gives `file` the group, mode and list of `access`. Before the call only the owner may use the
/// file. If the group or the list cannot be set, users whose rights depend on it get no more than
/// `access` gives to everybody.
Result<void> give_access(const File& file, const Access& access);

/// True if this user is a member of the group.
bool is_own_group(gid_t group);
/// True if the directory belongs to this user or to root, or if one of this user's groups may write to it.
bool is_own_or_projects(const struct stat& directory);
/// True if this user can make a file of that group in the directory: as a member, or because the directory gives its
/// group to new files.
bool can_have_group(const File& directory, gid_t group);

/// Copies access, `user.*` attributes and security label of `from` to `to`, which takes the place
/// of `from`. If another user owns `from`, only its mode counts: `to` gets the mode of a new file
/// of this user, narrowed by the mode of `from`. `access` stands for that of `from`; a list that `to`
/// inherited from its directory then gives nobody access whom `access` does not let through.
Result<void> copy_attributes(const File& from, const File& to);
Result<void> copy_attributes(const File& from, const File& to, const Access& access);

/// Lets all users who can list and enter `parent` list and enter `directory`, which lies in it,
/// whatever the umask was when `directory` was made.
Result<void> open_as_parent(const File& directory, const File& parent);

}  // namespace mcr::restart
