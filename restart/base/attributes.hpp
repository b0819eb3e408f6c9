// SPDX-License-Identifier: BSD-3-Clause
// Who may use a file, and its extended attributes. A file of ours that replaces another file, or that
// holds another file's data, takes these from that file, never from the umask of the writing process.
#pragma once

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

/// Returns the access for a file with data of all of these files: only users who may read each of them
/// may read it. The owner may always read and write. There is no execute permission.
Access common_access(const std::vector<Access>& all);

/// Returns the access without a list, for nobody whom the list shuts out. Who is no member of the file's
/// group gets none.
Access without_list(Access access);

/// Returns the mode of a part's file that is made again: the one that it had (0: not known), but no more
/// open than its container, which its owner may have closed since. No mode says what an access list says:
/// such a file is its owner's alone.
mode_t mode_within(mode_t mode, const Access& container);

/// Makes `file`, which only its owner can use yet, as open as `access` says, and no more. If the group
/// or the list cannot be set, the users whom it concerns get no access.
Result<void> give_access(const File& file, const Access& access);

/// Copies access, `user.*` attributes and security label of `from` to `to`, which takes the place of
/// `from`. If another user owns `from`, only its mode counts: `to` gets the mode of a new file of this
/// user, narrowed by the mode of `from`.
Result<void> copy_attributes(const File& from, const File& to);

/// Lets all users who can list and enter `parent` list and enter `directory`, which lies in it,
/// whatever the umask was when it was made.
Result<void> open_as_parent(const File& directory, const File& parent);

}  // namespace mcr::restart
