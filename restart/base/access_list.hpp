// SPDX-License-Identifier: BSD-3-Clause
// POSIX access lists as the kernel gives them in `system.posix_acl_access`: a version (4 bytes), then
// entries of tag, rights (2 bytes each) and id (4 bytes), all little-endian (linux/posix_acl_xattr.h).
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include "codecs/base/bytes.hpp"

namespace mcr::restart {

/// Returns the rights of the owning group, as far as the mask leaves them; 0 if the list has no such
/// entry.
mode_t rights_of_own_group(ByteSpan list);

/// Returns the rights that the owning group and each named user and group have in common. Without the
/// list, its group may have no more: a named user may be a member.
mode_t rights_of_all_groups(ByteSpan list);

/// Returns the list with the permission bits of `mode` as rights of the owner, mask and rights of others,
/// as chmod() would set them.
Bytes list_with_mode(ByteSpan list, mode_t mode);

/// True if the list lets a named user or group write and enter whom the list of `above` (may be empty),
/// the list of a directory with that status, does not let write and enter.
bool lets_more_write(ByteSpan list, ByteSpan above, const struct stat& status_above);

}  // namespace mcr::restart
