// SPDX-License-Identifier: BSD-3-Clause
#include "restart/base/membership.hpp"

#include <grp.h>
#include <pwd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace mcr::restart {
namespace {

constexpr std::size_t first_text_bytes = 1024;
constexpr std::size_t most_text_bytes = 1024 * 1024;
constexpr std::size_t first_groups = 64;
constexpr std::size_t most_groups = 65536;  // the kernel allows no process more (NGROUPS_MAX)

std::optional<UserGroups> look_up(uid_t user) {
  struct passwd account {};
  struct passwd* found = nullptr;
  std::vector<char> text(first_text_bytes);
  while (::getpwuid_r(user, &account, text.data(), text.size(), &found) == ERANGE) {
    if (text.size() >= most_text_bytes) return std::nullopt;
    text.resize(4 * text.size());
  }
  if (found == nullptr) return std::nullopt;
  UserGroups groups{account.pw_gid, std::vector<gid_t>(first_groups), account.pw_name};
  int count = static_cast<int>(groups.all.size());
  while (::getgrouplist(account.pw_name, account.pw_gid, groups.all.data(), &count) < 0) {
    if (groups.all.size() >= most_groups) return std::nullopt;
    groups.all.resize(4 * groups.all.size());
    count = static_cast<int>(groups.all.size());
  }
  groups.all.resize(static_cast<std::size_t>(count));
  return groups;
}

/// True if the account database lists no member of the group but this one.
bool lists_only(gid_t group, const std::string& member) {
  struct group entry {};
  struct group* found = nullptr;
  std::vector<char> text(first_text_bytes);
  while (::getgrgid_r(group, &entry, text.data(), text.size(), &found) == ERANGE) {
    if (text.size() >= most_text_bytes) return false;
    text.resize(4 * text.size());
  }
  if (found == nullptr) return true;
  for (char** name = found->gr_mem; *name != nullptr; ++name)
    if (member != *name) return false;
  return true;
}

}  // namespace

std::optional<UserGroups> groups_of(uid_t user) {
  struct Known {
    std::mutex mutex;
    std::map<uid_t, std::optional<UserGroups>> answers;
  };
  static Known& known = *new Known;  // nothing may run at the process's end
  const std::lock_guard lock(known.mutex);
  const auto [answer, is_new] = known.answers.try_emplace(user);
  if (is_new) answer->second = look_up(user);
  return answer->second;
}

bool is_private_group(gid_t group, uid_t user) {
  struct Known {
    std::mutex mutex;
    std::map<uid_t, bool> answers;  // of the group with the user's number
  };
  static Known& known = *new Known;  // nothing may run at the process's end
  if (group != user) return false;
  const std::lock_guard lock(known.mutex);
  const auto [answer, is_new] = known.answers.try_emplace(user);
  if (is_new) {
    const auto groups = groups_of(user);
    answer->second = !groups || (groups->first == group && lists_only(group, groups->name));
  }
  return answer->second;
}

bool may_be_member(uid_t user, gid_t group) {
  const auto groups = groups_of(user);
  return !groups || std::find(groups->all.begin(), groups->all.end(), group) != groups->all.end();
}

}  // namespace mcr::restart
