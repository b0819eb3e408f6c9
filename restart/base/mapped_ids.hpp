// SPDX-License-Identifier: BSD-3-Clause
// Users and groups in a user namespace (rootless containers; user_namespaces(7)). The namespace maps some ids only. stat()
// shows all others as one number, the overflow id, so two equal numbers may be two different users or groups.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

namespace mcr::restart {

/// True if the number may stand for any user, or group, that this process's user namespace does not map. Such a number is
/// equal to nothing, not even to itself.
bool is_unmapped_user(uid_t user);
bool is_unmapped_group(gid_t group);
/// True for the owner or the group of a file.
bool is_unmapped(const struct stat& status);
/// True outside of such namespaces.
bool are_all_ids_mapped();

}  // namespace mcr::restart
