// SPDX-License-Identifier: BSD-3-Clause
// POSIX access lists as the kernel gives them in extended attributes: a version (4 bytes), then
// entries of tag, rights (2 bytes each) and id (4 bytes), all little-endian
// (linux/posix_acl_xattr.h).
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>

#include "codecs/base/bytes.hpp"

namespace mcr::restart {

/// The attributes with a file's list, and with the list that new files in a directory inherit.
inline constexpr const char* access_list_name = "system.posix_acl_access";
inline constexpr const char* default_list_name = "system.posix_acl_default";

/// To whom an entry gives rights.
enum class Tag : std::uint16_t {
  owner = 0x01,
  user = 0x02,
  own_group = 0x04,
  group = 0x08,
  mask = 0x10,
  others = 0x20,
};

/// Returns the rights of the owning group, limited by the mask; 0 if the list has no entry for it.
mode_t rights_of_own_group(ByteSpan list);

/// Returns the rights that the owning group and each named user and group have in common. If the
/// list is dropped, the owning group may keep only these rights, because a named user may be a
/// member of that group.
mode_t rights_of_all_groups(ByteSpan list);

/// Returns the list with the permission bits of `mode` as rights of the owner, mask and rights of
/// others, as chmod() would set them.
Bytes list_with_mode(ByteSpan list, mode_t mode);

/// True if a user or group that a directory's access list names may write to the directory and enter it.
bool lets_named_write(ByteSpan list);

/// True if every member of the owning group may write to the directory and enter it, whoever the list names.
bool lets_whole_group_write(ByteSpan list);

/// Compares a directory's access list with the directory above it: true if a user or group that the
/// list names may write to the directory and enter it, but may not do so in the directory above.
/// `above` is the access list of the directory above (may be empty), `status_above` its status.
bool lets_more_write(ByteSpan list, ByteSpan above, const struct stat& status_above);

/// The same for listing and entering: true if a user or group that the list names may do one of them here, but not both in
/// the directory above.
bool lets_more_list(ByteSpan list, ByteSpan above, const struct stat& status_above);

/// True if `above`, the access list of the directory above, denies write permission to a user or group
/// who could write to the directory below: as a member of its group, as one of the others, or by its own
/// list `list`. `status` is that of the directory below; its owner does not count here
/// (denies_write_to()). `may_be_member` says whether a user may be a member of a group.
bool lets_denied_write(ByteSpan list, const struct stat& status, ByteSpan above,
                       const struct stat& status_above,
                       const std::function<bool(uid_t, gid_t)>& may_be_member);

/// True if the list names the user and does not let him write, or if its entries cannot be read.
bool denies_write_to(ByteSpan list, uid_t user);

/// Returns the list for a file that cannot be given its group: `group`, as a named group, gets the rights of the
/// owning group, and the owning group gets none. So no later chmod() lets in a group that the file should not
/// have. `list` may be empty; then `mode` has the rights.
Bytes list_for_foreign_group(ByteSpan list, mode_t mode, gid_t group);

/// True if all users who have rights to the directory `inner` may enter `outer`, the directory above it. The owner of
/// `inner` does not count. The lists may be empty.
bool lets_all_enter(const struct stat& outer, ByteSpan outer_list, const struct stat& inner,
                    ByteSpan inner_list);

/// True if nobody but the file's owner can be kept from a file by the directory: all others who may read or
/// write the file may list and enter the directory. `file_list` and `directory_list` may be empty.
bool lets_all_list(const struct stat& directory, ByteSpan directory_list, mode_t file_mode,
                   gid_t file_group, ByteSpan file_list);

}  // namespace mcr::restart
