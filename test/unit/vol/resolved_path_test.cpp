// SPDX-License-Identifier: BSD-3-Clause
#include "vol/capture/resolved_path.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <string_view>

#include "restart/base/system.hpp"
#include "test/support/catch.hpp"

namespace mcr::vol {

namespace {

// A directory for one test, and paths in it.
class Place {
 public:
  Place() {
    char name[] = "/tmp/mcr-resolved-XXXXXX";
    path_ = mkdtemp(name);
  }
  ~Place() { REQUIRE(std::system(("rm -rf " + path_).c_str()) == 0); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

void touch(const std::string& path) { close(open(path.c_str(), O_CREAT | O_WRONLY, 0600)); }

}  // namespace

TEST_CASE("a file that does not exist yet gets its directory's path and no status") {
  const Place place;
  const auto resolved = resolve_path(place / "a.h5");
  REQUIRE(resolved);
  CHECK(resolved->path == place / "a.h5");
  CHECK_FALSE(resolved->status);
}

TEST_CASE("symbolic links on the way and at the end are followed") {
  const Place place;
  REQUIRE(mkdir((place / "real").c_str(), 0700) == 0);
  REQUIRE(symlink("real", (place / "way").c_str()) == 0);
  touch(place / "real/a.h5");
  REQUIRE(symlink("way/a.h5", (place / "link.h5").c_str()) == 0);
  const auto resolved = resolve_path(place / "link.h5");
  REQUIRE(resolved);
  CHECK(resolved->path == place / "real/a.h5");
  CHECK(resolved->status);
}

namespace {
std::string protection;  // path of a file that is read instead of the kernel's setting

int open_protection(int directory, const char* name, int flags, mode_t mode) {
  const bool is_setting = std::string_view(name) == "/proc/sys/fs/protected_symlinks";
  return restart::real_system_calls().openat(directory, is_setting ? protection.c_str() : name,
                                             flags, mode);
}
}  // namespace

TEST_CASE(
    "other users' links in a sticky directory are followed only if the kernel would follow them") {
  if (geteuid() != 0) return;  // only root can make another user's link
  const Place place;
  REQUIRE(mkdir((place / "scratch").c_str(), 0700) == 0);
  REQUIRE(chmod((place / "scratch").c_str(), 01777) == 0);
  touch(place / "private.h5");
  const std::string link = place / "scratch/a.h5";
  REQUIRE(symlink("../private.h5", link.c_str()) == 0);
  protection = place / "setting";
  restart::SystemCalls calls = restart::real_system_calls();
  calls.openat = open_protection;
  const restart::ReplacedSystemCalls replaced(calls);
  const bool is_on = GENERATE(true, false);
  std::ofstream(protection) << (is_on ? "1\n" : "0\n");
  CHECK(resolve_path(link));  // this user's own link
  REQUIRE(lchown(link.c_str(), 1001, 1001) == 0);
  const auto resolved = resolve_path(link);
  CHECK(resolved.has_value() != is_on);
  if (is_on) CHECK(resolved.error().system_error == EACCES);
  REQUIRE(chmod((place / "scratch").c_str(), 0777) == 0);
  CHECK(resolve_path(link));
}

TEST_CASE("a dangling link leads to the path at which a file would be made") {
  const Place place;
  REQUIRE(symlink("later.h5", (place / "link.h5").c_str()) == 0);
  const auto resolved = resolve_path(place / "link.h5");
  REQUIRE(resolved);
  CHECK(resolved->path == place / "later.h5");
  CHECK_FALSE(resolved->status);
}

TEST_CASE("links in a circle are an error") {
  const Place place;
  REQUIRE(symlink("b", (place / "a").c_str()) == 0);
  REQUIRE(symlink("a", (place / "b").c_str()) == 0);
  CHECK_FALSE(resolve_path(place / "a"));
}

TEST_CASE("a missing directory is an error") {
  const Place place;
  CHECK_FALSE(resolve_path(place / "nowhere/a.h5"));
}

TEST_CASE("relative names follow the working directory, also when it changes") {
  const Place place;
  REQUIRE(mkdir((place / "x").c_str(), 0700) == 0);
  REQUIRE(mkdir((place / "y").c_str(), 0700) == 0);
  const int before = open(".", O_RDONLY | O_DIRECTORY);
  REQUIRE(chdir((place / "x").c_str()) == 0);
  CHECK(resolve_path("a.h5")->path == place / "x/a.h5");
  REQUIRE(chdir((place / "y").c_str()) == 0);
  CHECK(resolve_path("a.h5")->path == place / "y/a.h5");
  CHECK(resolve_path("../x/a.h5")->path == place / "x/a.h5");
  REQUIRE(fchdir(before) == 0);
  close(before);
}

TEST_CASE("a renamed directory is found under its new name") {
  const Place place;
  REQUIRE(mkdir((place / "x").c_str(), 0700) == 0);
  const int before = open(".", O_RDONLY | O_DIRECTORY);
  REQUIRE(chdir((place / "x").c_str()) == 0);
  CHECK(resolve_path("a.h5")->path == place / "x/a.h5");
  REQUIRE(rename((place / "x").c_str(), (place / "z").c_str()) == 0);
  CHECK(resolve_path("a.h5")->path == place / "z/a.h5");
  REQUIRE(fchdir(before) == 0);
  close(before);
}

}  // namespace mcr::vol
