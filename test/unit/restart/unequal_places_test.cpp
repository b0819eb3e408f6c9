// SPDX-License-Identifier: BSD-3-Clause
#include "restart/open/unequal_places.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "test/support/catch.hpp"
#include "test/unit/restart/scratch_directory.hpp"

namespace mcr::restart {
namespace {

namespace fs = std::filesystem;

/// A run with a directory of each mode, in which lies one rank's file.
class Run {
 public:
  explicit Run(const std::vector<mode_t>& modes, mode_t of_run = 0755) {
    ::chmod(directory_.path().c_str(), 0755);
    fs::create_directory(run());
    for (std::size_t rank = 0; rank < modes.size(); ++rank) {
      const std::string directory = run() + "/r" + std::to_string(rank);
      fs::create_directory(directory);
      paths_.push_back(directory + "/a.h5");
      std::ofstream(paths_.back()) << "x";
      ::chmod(paths_.back().c_str(), 0644);
      ::chmod(directory.c_str(), modes[rank]);
    }
    ::chmod(run().c_str(), of_run);
  }

  [[nodiscard]] std::string run() const { return directory_ / "run"; }
  [[nodiscard]] std::string other(const std::string& name) const { return directory_ / name; }
  [[nodiscard]] const std::string& path(std::size_t rank) const { return paths_[rank]; }
  [[nodiscard]] bool is_unequal() const {
    return unequal_places(paths_, run(), ::geteuid()).has_value();
  }

 private:
  ScratchDirectory directory_;
  std::vector<std::string> paths_;
};

TEST_CASE("directories that only their owner may write to are equal, whoever may read them") {
  CHECK_FALSE(Run({0755, 0700, 0711}).is_unequal());
}

TEST_CASE("one rank's directory that others may write to is not equal to the other ranks'") {
  CHECK(Run({0755, 0755, 0777}).is_unequal());
  CHECK(Run({0777, 0777, 01777}).is_unequal());
  CHECK_FALSE(Run({0777, 0777, 0777}).is_unequal());
  CHECK_FALSE(Run({01777, 01777}).is_unequal());
}

TEST_CASE("a directory without a file counts, and so does the one above a directory that is gone") {
  const Run run({0755, 0777});
  fs::remove(run.path(1));
  CHECK(run.is_unequal());
  fs::remove(run.run() + "/r1");
  CHECK_FALSE(run.is_unequal());
}

TEST_CASE("a file that others may write to is unequal where they may enter its directory") {
  const Run run({0755, 0755});
  ::chmod(run.path(1).c_str(), 0666);
  CHECK(run.is_unequal());
  ::chmod((run.run() + "/r1").c_str(), 0700);
  CHECK_FALSE(run.is_unequal());
}

TEST_CASE("in a run that others cannot enter, only what links lead to counts") {
  const Run run({0755, 0777}, 0700);
  CHECK_FALSE(run.is_unequal());
  fs::create_directory(run.other("open"));
  ::chmod(run.other("open").c_str(), 0777);
  fs::rename(run.run() + "/r1", run.other("open") + "/r1");
  fs::create_symlink(run.other("open") + "/r1", run.run() + "/r1");
  CHECK(run.is_unequal());
}

TEST_CASE("a link to a further link, and one that leads nowhere, are equal to nothing") {
  const Run run({0755, 0755});
  fs::rename(run.run() + "/r1", run.other("end"));
  fs::create_symlink(run.other("end"), run.run() + "/r1");
  CHECK_FALSE(run.is_unequal());
  fs::remove(run.run() + "/r1");
  fs::create_symlink(run.other("end"), run.other("middle"));
  fs::create_symlink(run.other("middle"), run.run() + "/r1");
  CHECK(run.is_unequal());
  fs::remove(run.other("middle"));
  CHECK(run.is_unequal());
}

TEST_CASE("who may enter the directories on the way counts where others may replace files below") {
  if (::geteuid() != 0) {
    WARN("only root can give directories to a group");
    return;
  }
  const Run run({0755, 0755});
  std::vector<std::string> paths;
  for (const std::size_t rank : {0, 1}) {
    const std::string sub = run.run() + "/r" + std::to_string(rank) + "/sub";
    fs::create_directory(sub);
    ::chmod(sub.c_str(), 0777);
    paths.push_back(sub + "/a.h5");
  }
  CHECK_FALSE(unequal_places(paths, run.run(), 0));
  const std::string first = run.run() + "/r0";
  REQUIRE(::chown(first.c_str(), 0, 12345) == 0);
  CHECK_FALSE(unequal_places(paths, run.run(), 0));
  ::chmod(first.c_str(), 0750);
  CHECK(unequal_places(paths, run.run(), 0));
}

TEST_CASE("a directory that leaves its group out is not equal to one that all may write to") {
  if (::geteuid() != 0) {
    WARN("only root can give directories to a group");
    return;
  }
  const Run run({0777, 0777});
  for (const char* name : {"/r0", "/r1"})
    REQUIRE(::chown((run.run() + name).c_str(), 0, 12345) == 0);
  CHECK_FALSE(run.is_unequal());
  ::chmod((run.run() + "/r0").c_str(), 0707);
  CHECK(run.is_unequal());
}

TEST_CASE("a file with another name counts as one that everybody who may write to it reaches") {
  const Run run({0700, 0700});
  CHECK_FALSE(run.is_unequal());
  fs::create_hard_link(run.path(1), run.other("second"));
  CHECK_FALSE(run.is_unequal());
  ::chmod(run.path(1).c_str(), 0666);
  CHECK(run.is_unequal());
}

TEST_CASE("strangers may add a file to a sticky directory for all that they can reach") {
  const Run run({01777, 0777, 0755});
  CHECK(strangers_may_add(run.path(0), ::geteuid()));
  CHECK_FALSE(strangers_may_add(run.path(1), ::geteuid()));  // they may replace the file
  CHECK_FALSE(strangers_may_add(run.path(2), ::geteuid()));
  CHECK(strangers_may_add(run.other("gone/a.h5"), ::geteuid()));
  ::chmod(run.run().c_str(), 0700);
  CHECK_FALSE(strangers_may_add(run.path(0), ::geteuid()));
}

TEST_CASE("paths that are not absolute, or not below the shared directory, are equal to nothing") {
  CHECK(unequal_places({"r0/a.h5", "r1/a.h5"}, ".", ::geteuid()));
  CHECK(unequal_places({"/tmp/r0/a.h5", "/usr/r1/a.h5"}, "/tmp", ::geteuid()));
  CHECK_FALSE(unequal_places({"/usr/r0/a.h5", "/usr/r1/a.h5"}, "/", ::geteuid()));
}

}  // namespace
}  // namespace mcr::restart
