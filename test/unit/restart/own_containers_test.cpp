// SPDX-License-Identifier: BSD-3-Clause
#include "restart/sets/own_containers.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>

#include "restart/base/system.hpp"
#include "test/support/catch.hpp"
#include "test/unit/restart/scratch_directory.hpp"

using namespace mcr;
using namespace mcr::restart;

TEST_CASE("a new directory of containers serves its owner, whatever the umask takes",
          "[own_containers]") {
  const ScratchDirectory place;
  for (const mode_t mask : {0577U, 0777U, 0277U, 0022U}) {
    const std::string path = place.path() + "/mcr-" + std::to_string(mask);
    const mode_t before = ::umask(mask);
    const auto made = make_own_containers(path);
    ::umask(before);
    REQUIRE(made);
    CHECK((made->status()->st_mode & S_IRWXU) == S_IRWXU);
    CHECK((made->status()->st_mode & mask & ~mode_t{S_IRWXU}) == 0);
  }
}

namespace {

struct Containers {
  explicit Containers(mode_t mode) {
    std::filesystem::create_directory(path);
    REQUIRE(::chmod(path.c_str(), mode) == 0);
  }
  [[nodiscard]] mode_t mode() const {
    struct stat status {};
    REQUIRE(::stat(path.c_str(), &status) == 0);
    return status.st_mode & 07777;
  }
  [[nodiscard]] Result<void> close(const KeptOut& kept) const {
    return close_to(kept, *File::open(AT_FDCWD, path, O_PATH | O_DIRECTORY), path);
  }
  void put_file() const { std::ofstream(path + "/set-planted.h5").put('x'); }

  ScratchDirectory place;
  std::string path = place.path() + "/mcr";
};

const KeptOut group{S_IWGRP, false};

}  // namespace

TEST_CASE("an empty directory of containers loses the write bits of users who are kept out") {
  const Containers containers(0775);
  CHECK(containers.close(group));
  CHECK(containers.mode() == 0755);
  containers.put_file();
  CHECK(containers.close(group));  // closed already
  CHECK(containers.close(KeptOut::all()));
}

TEST_CASE("a directory of containers in which other users may have put files is not closed") {
  const Containers containers(0775);
  containers.put_file();
  const auto closed = containers.close(group);
  REQUIRE_FALSE(closed);
  CHECK(closed.error().system_error == EPERM);
  CHECK(containers.mode() == 0775);
  CHECK(containers.close({0, true}));  // a sticky bit makes no file look like this user's
  CHECK(containers.mode() == 01775);
}

TEST_CASE("a file that comes into the directory while it is closed opens it again") {
  static const Containers* planted_into = nullptr;
  const Containers containers(0775);
  planted_into = &containers;
  SystemCalls calls = system_calls();
  calls.fchmod = [](int descriptor, mode_t mode) {
    if (mode == 0755) planted_into->put_file();
    return ::fchmod(descriptor, mode);
  };
  const ReplacedSystemCalls replaced(calls);
  const auto closed = containers.close(group);
  REQUIRE_FALSE(closed);
  CHECK(closed.error().system_error == EPERM);
  CHECK(containers.mode() == 0775);
}
