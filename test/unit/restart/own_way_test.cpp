// SPDX-License-Identifier: BSD-3-Clause
#include "restart/base/own_way.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

#include "restart/base/file_identity.hpp"
#include "test/support/catch.hpp"
#include "test/unit/restart/scratch_directory.hpp"

using namespace mcr;
using namespace mcr::restart;

namespace {

FileIdentity identity_at(const std::string& path) {
  struct stat status {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return FileIdentity(status);
}

}  // namespace

TEST_CASE("a directory is opened through links of this user's, of any kind", "[own_way]") {
  const ScratchDirectory place;
  const std::string target = place / "a/b";
  REQUIRE(::mkdir((place / "a").c_str(), 0755) == 0);
  REQUIRE(::mkdir(target.c_str(), 0755) == 0);
  REQUIRE(::symlink("a/../a", (place / "relative").c_str()) == 0);
  REQUIRE(::symlink(target.c_str(), (place / "absolute").c_str()) == 0);
  REQUIRE(::symlink("relative", (place / "second").c_str()) == 0);
  for (const char* path : {"a/b", "a//b/", "relative/b", "absolute", "second/./b"}) {
    const auto opened = open_by_own_way(place / path);
    REQUIRE(opened);
    CHECK(FileIdentity(*opened->status()) == identity_at(target));
  }
  CHECK(open_by_own_way("/").has_value());
}

TEST_CASE("another user's link, a loop and a file end the way", "[own_way]") {
  const ScratchDirectory place;
  REQUIRE(::mkdir((place / "a").c_str(), 0755) == 0);
  REQUIRE(::symlink("loop", (place / "loop").c_str()) == 0);
  CHECK(open_by_own_way(place / "loop").error().system_error == ELOOP);
  CHECK(open_by_own_way(place / "missing/x").error().system_error == ENOENT);
  std::ofstream(place / "file").put('x');
  for (const char* path : {"file", "file/x"})
    CHECK(open_by_own_way(place / path).error().system_error == ENOTDIR);
  for (int i = 0; i <= 40; ++i) {
    const std::string target = i == 0 ? "a" : "chain" + std::to_string(i - 1);
    REQUIRE(::symlink(target.c_str(), (place / ("chain" + std::to_string(i))).c_str()) == 0);
  }
  CHECK(open_by_own_way(place / "chain39").has_value());
  CHECK(open_by_own_way(place / "chain40").error().system_error == ELOOP);
  REQUIRE(::mkdir((place / "sticky").c_str(), 0755) == 0);
  REQUIRE(::chmod((place / "sticky").c_str(), 01777) == 0);
  REQUIRE(::symlink("../a", (place / "sticky/link").c_str()) == 0);
  CHECK(open_by_own_way(place / "sticky/link").error().system_error == ELOOP);
  if (::geteuid() != 0) return;  // only root gives links to others
  REQUIRE(::symlink("a", (place / "foreign").c_str()) == 0);
  REQUIRE(::lchown((place / "foreign").c_str(), 12345, 12345) == 0);
  REQUIRE(::symlink("foreign", (place / "own").c_str()) == 0);
  for (const char* path : {"foreign", "own", "own/.."})
    CHECK(open_by_own_way(place / path).error().system_error == ELOOP);
}

TEST_CASE("links in directories of this user's alone are trusted, others are not", "[own_way]") {
  const ScratchDirectory place;
  REQUIRE(::mkdir((place / "real").c_str(), 0755) == 0);
  std::ofstream(place / "real/file").put('x');
  REQUIRE(::symlink("real", (place / "way").c_str()) == 0);
  REQUIRE(::symlink("way/file", (place / "link").c_str()) == 0);
  REQUIRE(::symlink("real/missing", (place / "dangling").c_str()) == 0);
  const FileIdentity real = identity_at(place / "real");
  const auto leads = [&](const std::string& name, const std::string& last) {
    return leads_by_trusted_links(place / name, real, last);
  };
  CHECK(leads("real/file", "file"));
  CHECK(leads("way/file", "file"));
  CHECK(leads("link", "file"));
  CHECK(leads("dangling", "missing"));
  CHECK_FALSE(leads("link", "missing"));
  CHECK_FALSE(leads("file", "file"));
  REQUIRE(::symlink("loop", (place / "loop").c_str()) == 0);
  CHECK_FALSE(leads("loop", "loop"));
  REQUIRE(::chmod((place / "").c_str(), 0775) == 0);
  CHECK(leads("real/file", "file"));
  CHECK_FALSE(leads("way/file", "file"));
  CHECK_FALSE(leads("link", "file"));
}
