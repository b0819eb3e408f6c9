// SPDX-License-Identifier: BSD-3-Clause
// POSIX access lists as the kernel gives them in `system.posix_acl_access`: a version (4 bytes),
// then entries of tag, rights (2 bytes each) and id (4 bytes), all little-endian
// (linux/posix_acl_xattr.h).
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include "codecs/base/bytes.hpp"

namespace mcr::restart {

/// Returns the rights of the owning group, limited by the mask; 0 if the list has no entry for it.
mode_t rights_of_own_group(ByteSpan list);

/// Returns the rights that the owning group and each named user and group have in common. If the
/// list is dropped, the owning group may keep only these rights, because a named user may be a
/// member of that group.
mode_t rights_of_all_groups(ByteSpan list);

/// Returns the list with the permission bits of `mode` as rights of the owner, mask and rights of
/// others, as chmod() would set them.
Bytes list_with_mode(ByteSpan list, mode_t mode);

/// True if `list` lets some named user or group write and enter who may not write and enter the
/// directory above. `above` is the access list of that directory (may be empty), and `status_above`
/// its status.
bool lets_more_write(ByteSpan list, ByteSpan above, const struct stat& status_above);

}  // namespace mcr::restart
