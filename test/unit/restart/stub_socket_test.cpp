// SPDX-License-Identifier: BSD-3-Clause
#include "restart/stage/stub_socket.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "test/support/catch.hpp"

using namespace mcr;
using namespace mcr::restart;
namespace fs = std::filesystem;

namespace {

/// A launch's directory, with a file in it in place of a stub.
struct Scratch {
  fs::path root = fs::temp_directory_path() / ("mcr-socket-" + PartId::random()->text());
  File directory;
  File stub;
  Scratch() {
    // The path is longer than the address of a socket may be.
    root /= std::string(200, 'd');
    fs::create_directories(root);
    directory = *File::open(AT_FDCWD, root, O_RDONLY | O_DIRECTORY);
    stub = *File::open(AT_FDCWD, root / "stub", O_RDWR | O_CREAT);
  }
  ~Scratch() { fs::remove_all(root.parent_path()); }
};

}  // namespace

TEST_CASE("a sent descriptor leads to the file even after a rename") {
  const Scratch scratch;
  auto socket = *StubSocket::listen(scratch.directory.descriptor());
  CHECK(socket.take().empty());
  const PartId part = *PartId::random();
  REQUIRE(send_stub(scratch.directory.descriptor(), part, scratch.stub.descriptor(), 7));
  fs::rename(scratch.root / "stub", scratch.root / "renamed");
  const auto messages = socket.take();
  REQUIRE(messages.size() == 1);
  CHECK(messages[0].part == part);
  CHECK(messages[0].modified_ns == 7);
  CHECK(messages[0].stub.status()->st_ino == scratch.stub.status()->st_ino);
  CHECK((::fcntl(messages[0].stub.descriptor(), F_GETFL) & O_PATH) != 0);
  CHECK((::fcntl(messages[0].stub.descriptor(), F_GETFD) & FD_CLOEXEC) != 0);
  CHECK(socket.take().empty());
}

TEST_CASE("without a leader, or with a dead one, sending fails at once") {
  const Scratch scratch;
  CHECK_FALSE(send_stub(scratch.directory.descriptor(), {}, scratch.stub.descriptor(), 7));
  { const auto socket = *StubSocket::listen(scratch.directory.descriptor()); }
  CHECK_FALSE(send_stub(scratch.directory.descriptor(), {}, scratch.stub.descriptor(), 7));
  CHECK(StubSocket::listen(scratch.directory.descriptor()).has_value());
}

TEST_CASE("many messages can wait for a leader that is busy") {
  const Scratch scratch;
  auto socket = *StubSocket::listen(scratch.directory.descriptor());
  std::size_t sent = 0;
  constexpr std::size_t many = 200;
  for (std::size_t i = 0; i < many; ++i)
    sent +=
        send_stub(scratch.directory.descriptor(), *PartId::random(), scratch.stub.descriptor(), 7)
            ? 1
            : 0;
  CHECK(sent > 100);  // a system may allow fewer than 200
  CHECK(socket.take().size() == sent);
}
