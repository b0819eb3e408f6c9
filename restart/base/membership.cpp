// SPDX-License-Identifier: BSD-3-Clause
#include "restart/base/membership.hpp"

#include <grp.h>
#include <pwd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace mcr::restart {
namespace {

constexpr std::size_t first_text_bytes = 1024;
constexpr std::size_t most_text_bytes = 1024 * 1024;
constexpr int most_groups = 65536;  // the kernel allows no process more (NGROUPS_MAX)

bool look_up(uid_t user, gid_t group) {
  struct passwd account {};
  struct passwd* found = nullptr;
  std::vector<char> text(first_text_bytes);
  while (::getpwuid_r(user, &account, text.data(), text.size(), &found) == ERANGE) {
    if (text.size() >= most_text_bytes) return true;
    text.resize(4 * text.size());
  }
  if (found == nullptr) return true;
  std::vector<gid_t> groups(64);
  int count = static_cast<int>(groups.size());
  while (::getgrouplist(account.pw_name, account.pw_gid, groups.data(), &count) < 0) {
    if (groups.size() >= most_groups) return true;
    groups.resize(4 * groups.size());
    count = static_cast<int>(groups.size());
  }
  groups.resize(static_cast<std::size_t>(count));
  return std::find(groups.begin(), groups.end(), group) != groups.end();
}

}  // namespace

bool may_be_member(uid_t user, gid_t group) {
  struct Known {
    std::mutex mutex;
    std::map<std::pair<uid_t, gid_t>, bool> answers;
  };
  static Known& known = *new Known;  // nothing may run at the process's end
  const std::lock_guard lock(known.mutex);
  const auto [answer, is_new] = known.answers.try_emplace({user, group}, true);
  if (is_new) answer->second = look_up(user, group);
  return answer->second;
}

}  // namespace mcr::restart
