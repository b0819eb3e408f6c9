// SPDX-License-Identifier: BSD-3-Clause
// What the system's account database says about users and groups.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace mcr::restart {

struct UserGroups {
  gid_t first = 0;
  std::vector<gid_t> all;
  std::string name;  ///< of the user
};

/// Returns the groups of the user; nothing if the account database does not know him. Thread-safe.
/// Remembers each answer, because the database may be slow.
std::optional<UserGroups> groups_of(uid_t user);

/// True if the group has the user's number and, if the account database knows him, is his first group and lists no other member.
/// Thread-safe. Remembers each answer.
bool is_private_group(gid_t group, uid_t user);

/// False only if the account database knows the user and does not count him among the group's members.
bool may_be_member(uid_t user, gid_t group);

}  // namespace mcr::restart
