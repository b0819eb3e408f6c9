// SPDX-License-Identifier: BSD-3-Clause
#include "restart/stage/resident_socket.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <filesystem>

#include "restart/base/local_socket.hpp"
#include "test/support/catch.hpp"
#include "test/unit/restart/scratch_directory.hpp"

using namespace mcr;
using namespace mcr::restart;
using Kind = ResidentRequest::Kind;

namespace {

ResidentSocket listen(const std::string& stage) {
  auto socket = ResidentSocket::listen(stage, {"n0", "7"});
  REQUIRE(socket);
  REQUIRE(*socket);
  return **std::move(socket);
}

std::size_t files_in(const std::string& stage) {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(stage)) ++count;
  return count;
}

bool is_closed(const File& connection) {
  pollfd source{connection.descriptor(), POLLIN, 0};
  return ::poll(&source, 1, 0) == 1;
}

}  // namespace

TEST_CASE("a resident gets each request whole, in order") {
  const ScratchDirectory scratch;
  const std::string stage = scratch / "stage";
  auto resident = listen(stage);
  const std::string settings(5000, 's');
  REQUIRE(ask_resident(stage, {"n0", "7"}, {Kind::lead, "one", settings}));
  REQUIRE(ask_resident(stage, {"n0", "7"}, {Kind::adopt, "two", {}}));
  const auto requests = resident.take();
  REQUIRE(requests.size() == 2);
  CHECK(requests[0].kind == Kind::lead);
  CHECK(requests[0].subject == "one");
  CHECK(requests[0].settings == settings);
  CHECK(requests[1].kind == Kind::adopt);
  CHECK(requests[1].subject == "two");
}

TEST_CASE("without a resident of that node a request fails at once") {
  const ScratchDirectory scratch;
  const std::string stage = scratch / "stage";
  CHECK_FALSE(ask_resident(stage, {"n0", "7"}, {Kind::lead, "one", {}}));
  {
    const auto resident = listen(stage);
    CHECK_FALSE(ask_resident(stage, {"n1", "7"}, {Kind::lead, "one", {}}));
  }
  CHECK_FALSE(ask_resident(stage, {"n0", "7"}, {Kind::lead, "one", {}}));
}

TEST_CASE("a job has one resident on a node, and another one when that has gone") {
  const ScratchDirectory scratch;
  const std::string stage = scratch / "stage";
  {
    const auto first = listen(stage);
    const auto second = ResidentSocket::listen(stage, {"n0", "7"});
    REQUIRE(second);
    CHECK_FALSE(*second);
    const auto elsewhere = ResidentSocket::listen(stage, {"n0", "8"});
    REQUIRE(elsewhere);
    CHECK(*elsewhere);
    (*elsewhere)->remove();
  }
  const auto third = listen(stage);
  REQUIRE(ask_resident(stage, {"n0", "7"}, {Kind::lead, "one", {}}));
}

TEST_CASE("what a killed resident left is removed, what a living one needs is not") {
  const ScratchDirectory scratch;
  const std::string stage = scratch / "stage";
  { const auto killed = listen(stage); }
  CHECK(files_in(stage) == 2);
  remove_dead_residents(stage);
  CHECK(files_in(stage) == 0);
  remove_dead_residents(stage);
  const auto living = listen(stage);
  remove_dead_residents(stage);
  CHECK(ask_resident(stage, {"n0", "7"}, {Kind::lead, "one", {}}));
  living.remove();
  CHECK(files_in(stage) == 0);
}

TEST_CASE("a process that asks for the end hears of it when the resident has ended") {
  const ScratchDirectory scratch;
  const std::string stage = scratch / "stage";
  Result<File> connection = Error{};
  {
    auto resident = listen(stage);
    connection = ask_resident(stage, {"n0", "7"}, {Kind::end, {}, {}});
    REQUIRE(connection);
    REQUIRE(resident.take().size() == 1);
    CHECK_FALSE(is_closed(*connection));
  }
  CHECK(is_closed(*connection));
}

TEST_CASE("a message that is no request is dropped, and the resident goes on") {
  const ScratchDirectory scratch;
  const std::string stage = scratch / "stage";
  auto resident = listen(stage);
  const File directory = *File::open(AT_FDCWD, stage, O_RDONLY | O_DIRECTORY);
  const auto connection = connect_socket_in(directory.descriptor(), "n0.resident-7");
  REQUIRE(connection);
  for (const char* bytes : {"", "\x7f", "\x01\xff\xff\xff\xff\xff"}) {
    const auto other = connect_socket_in(directory.descriptor(), "n0.resident-7");
    REQUIRE(other);
    (void)::send(other->descriptor(), bytes, std::string_view(bytes).size(), MSG_NOSIGNAL);
  }
  CHECK(resident.take().empty());
  REQUIRE(ask_resident(stage, {"n0", "7"}, {Kind::lead, "one", {}}));
  CHECK(resident.take().size() == 1);
}

TEST_CASE("no request goes to a stage that other users may change") {
  const ScratchDirectory scratch;
  const std::string stage = scratch / "stage";
  const auto resident = listen(stage);
  REQUIRE(::chmod(stage.c_str(), 0777) == 0);
  CHECK_FALSE(ask_resident(stage, {"n0", "7"}, {Kind::lead, "one", {}}));
}
