// SPDX-License-Identifier: BSD-3-Clause
#include "restart/base/membership.hpp"

#include <grp.h>
#include <pwd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <mutex>
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
  UserGroups groups{account.pw_gid, std::vector<gid_t>(first_groups)};
  int count = static_cast<int>(groups.all.size());
  while (::getgrouplist(account.pw_name, account.pw_gid, groups.all.data(), &count) < 0) {
    if (groups.all.size() >= most_groups) return std::nullopt;
    groups.all.resize(4 * groups.all.size());
    count = static_cast<int>(groups.all.size());
  }
  groups.all.resize(static_cast<std::size_t>(count));
  return groups;
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

bool may_be_member(uid_t user, gid_t group) {
  const auto groups = groups_of(user);
  return !groups || std::find(groups->all.begin(), groups->all.end(), group) != groups->all.end();
}

}  // namespace mcr::restart
