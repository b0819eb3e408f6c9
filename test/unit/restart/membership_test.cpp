// SPDX-License-Identifier: BSD-3-Clause
#include "restart/base/membership.hpp"

#include <grp.h>
#include <pwd.h>

#include <string>
#include <vector>

#include "test/support/catch.hpp"

using namespace mcr::restart;

TEST_CASE("a group of another number than the user's is not private") {
  CHECK_FALSE(is_private_group(64198, 64199));
  CHECK(is_private_group(64199, 64199));  // the account database knows no such user
}

TEST_CASE(
    "a group with a user's number is private if it is his first one and has no other member") {
  std::vector<passwd> users;
  std::vector<std::string> names;
  ::setpwent();
  for (const passwd* user = ::getpwent(); user != nullptr; user = ::getpwent()) {
    users.push_back(*user);
    names.emplace_back(user->pw_name);
  }
  ::endpwent();
  REQUIRE_FALSE(users.empty());
  for (std::size_t i = 0; i < users.size(); ++i) {
    const group* const entry = ::getgrgid(users[i].pw_uid);
    bool is_alone = true;
    for (char** member = entry == nullptr ? nullptr : entry->gr_mem;
         member != nullptr && *member != nullptr; ++member)
      is_alone = is_alone && names[i] == *member;
    INFO(names[i]);
    CHECK(is_private_group(users[i].pw_uid, users[i].pw_uid) ==
          (users[i].pw_gid == users[i].pw_uid && is_alone));
  }
}
