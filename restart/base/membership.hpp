// SPDX-License-Identifier: BSD-3-Clause
// What the system's account database says about users and groups.
#pragma once

#include <sys/types.h>

namespace mcr::restart {

/// False only if the account database knows the user and does not count him among the group's members.
/// Thread-safe. Remembers each answer, because the database may be slow.
bool may_be_member(uid_t user, gid_t group);

}  // namespace mcr::restart
