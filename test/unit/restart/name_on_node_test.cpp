// SPDX-License-Identifier: BSD-3-Clause
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <string>

#include "restart/base/local_socket.hpp"
#include "test/support/catch.hpp"

using namespace mcr::restart;

namespace {

std::string new_name(const char* what) {
  return std::string("mcr-test-") + what + "-" + std::to_string(::getpid());
}

/// Returns what a new process of another user (or of this one: 0) is told.
bool is_taken_by_child(const std::string& name, uid_t user = 0) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (user != 0 && ::setuid(user) != 0) ::_exit(2);
    ::_exit(take_name_on_node(name) ? 1 : 0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WEXITSTATUS(status) != 2);
  return WEXITSTATUS(status) == 1;
}

}  // namespace

TEST_CASE("one process of a user takes a name on the node, until it ends") {
  const std::string name = new_name("once");
  CHECK(is_taken_by_child(name));
  CHECK(take_name_on_node(name));
  CHECK_FALSE(take_name_on_node(name));
  CHECK_FALSE(is_taken_by_child(name));
  CHECK(is_taken_by_child(name + "-other"));
}

TEST_CASE("a name that another user has taken does not silence this user") {
  if (::geteuid() != 0) return;
  constexpr uid_t other_user = 65534;
  const std::string name = new_name("other");
  CHECK(take_name_on_node(name));
  CHECK(is_taken_by_child(name, other_user));
}

TEST_CASE("a name that was taken by a socket that does not listen is not believed") {
  const std::string name = new_name("deaf");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  const int deaf = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  REQUIRE(::bind(deaf, reinterpret_cast<const sockaddr*>(&address), bytes) == 0);
  CHECK(take_name_on_node(name));
  ::close(deaf);
}
