// SPDX-License-Identifier: BSD-3-Clause
#include "restart/sets/removed_sets.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include "test/support/catch.hpp"
#include "test/unit/restart/scratch_directory.hpp"

using namespace mcr;
using namespace mcr::restart;

namespace {

/// A directory of containers with that mode, and the mode of its log if it can be made with umask 0.
struct Logged {
  explicit Logged(mode_t mode, mode_t above = 0755) {
    const mode_t before = ::umask(0);
    REQUIRE(::chmod(place.path().c_str(), above) == 0);
    REQUIRE(::mkdir(path.c_str(), 0700) == 0);
    REQUIRE(::chmod(path.c_str(), mode) == 0);
    note_removed_set(open(), "set-x.L-0.", "removed");
    ::umask(before);
  }
  [[nodiscard]] File open() const { return *File::open(AT_FDCWD, path, O_RDONLY | O_DIRECTORY); }
  [[nodiscard]] bool says_so() const {
    const File outer = *File::open(AT_FDCWD, place.path(), O_PATH | O_DIRECTORY);
    const OpenContainers containers(open(), ::geteuid(), *Beside::of(outer, open()));
    return removed_set(containers, "set-x.L-0.").has_value();
  }

  ScratchDirectory place;
  std::string path = place / "mcr";
};

}  // namespace

TEST_CASE("the line about a removed set is found, whatever the umask") {
  CHECK(Logged(0755).says_so());
  CHECK(Logged(01777, 0777).says_so());
}

TEST_CASE("a log that lies where other users may add files says nothing") {
  CHECK_FALSE(Logged(01777).says_so());
  CHECK_FALSE(Logged(01777, 01777).says_so());
  CHECK_FALSE(Logged(01777, 0700).says_so());  // another user's process may have entered it before
}
