// SPDX-License-Identifier: BSD-3-Clause
#include "restart/base/replacers.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "restart/base/access_list.hpp"
#include "test/support/catch.hpp"
#include "test/unit/restart/made_list.hpp"
#include "test/unit/restart/scratch_directory.hpp"

using namespace mcr;
using namespace mcr::restart;

namespace {

/// Two directories, `one` and `other`, each in a directory of its own.
struct Trees {
  ScratchDirectory scratch;
  std::string one = scratch.path() + "/a/one";
  std::string other = scratch.path() + "/b/other";

  Trees() {
    for (const std::string& path : {scratch.path() + "/a", scratch.path() + "/b", one, other})
      REQUIRE(::mkdir(path.c_str(), 0755) == 0);
  }

  /// True if each user who may put files into `other` may replace the files in `one`.
  [[nodiscard]] bool are_among(uid_t owner = ::geteuid()) const {
    const auto open = [](const std::string& path) {
      auto directory = File::open(AT_FDCWD, path, O_PATH | O_DIRECTORY);
      REQUIRE(directory);
      return *std::move(directory);
    };
    const auto trusted = may_trust(open(other), open(one), owner);
    REQUIRE(trusted);
    return *trusted;
  }
};

void set_mode(const std::string& path, mode_t mode) { REQUIRE(::chmod(path.c_str(), mode) == 0); }

}  // namespace

TEST_CASE("nobody may put files into a directory that only its owner may write to") {
  const Trees trees;
  CHECK(trees.are_among());
}

TEST_CASE("members of a group may put files into one directory and not into the other") {
  const Trees trees;
  set_mode(trees.other, 0775);
  CHECK_FALSE(trees.are_among());
  set_mode(trees.one, 0775);
  CHECK(trees.are_among());
}

TEST_CASE("a list that denies no member of the group anything leaves the group's right to write") {
  const Trees trees;
  const auto give_list = [&](std::uint16_t rights_of_user) {
    const Bytes list = made_list({{Tag::owner, 7, 0},
                                  {Tag::user, rights_of_user, 1000},
                                  {Tag::own_group, 7, 0},
                                  {Tag::mask, 7, 0},
                                  {Tag::others, 5, 0}});
    return ::setxattr(trees.one.c_str(), access_list_name, list.data(), list.size(), 0) == 0;
  };
  if (!give_list(7)) {
    WARN("the file system has no access lists");
    return;
  }
  set_mode(trees.other, 0775);
  CHECK(trees.are_among());
  REQUIRE(give_list(5));
  CHECK_FALSE(trees.are_among());
}

TEST_CASE("who may rename a directory may exchange it") {
  const Trees trees;
  set_mode(trees.scratch.path() + "/b", 0775);
  CHECK_FALSE(trees.are_among());
  set_mode(trees.scratch.path() + "/b", 01775);
  CHECK(trees.are_among());
}

TEST_CASE("a sticky bit keeps others from replacing files, and not from adding them") {
  const Trees trees;
  set_mode(trees.other, 01777);
  CHECK_FALSE(trees.are_among());
  set_mode(trees.one, 01777);
  CHECK_FALSE(trees.are_among());
  set_mode(trees.one, 0777);
  CHECK(trees.are_among());
}

TEST_CASE("the owner of a directory above counts") {
  if (::geteuid() != 0) return;  // only root can give directories to others
  const Trees trees;
  REQUIRE(::chown((trees.scratch.path() + "/b").c_str(), 64299, 64299) == 0);
  CHECK_FALSE(trees.are_among(64298));
  CHECK(trees.are_among(64299));
}

TEST_CASE("who may not enter a directory above can replace nothing below it") {
  const Trees trees;
  set_mode(trees.one, 0777);
  set_mode(trees.other, 0777);
  CHECK(trees.are_among());
  set_mode(trees.scratch.path() + "/a", 0700);
  CHECK_FALSE(trees.are_among());
}

TEST_CASE("a directory that all but its group may write to is not everybody's") {
  const Trees trees;
  set_mode(trees.other, 0777);
  set_mode(trees.one, 0757);
  CHECK_FALSE(trees.are_among());
}

TEST_CASE("what users may do above both directories makes no difference") {
  const Trees trees;
  set_mode(trees.scratch.path(), 0777);
  CHECK(trees.are_among());
}

namespace {

constexpr uid_t someone = 64299;

/// True if others may rename the directory `b/other`, which belongs to `someone`, as `b` does. Above is a directory to which
/// only root may write.
bool may_rename(const Trees& trees, mode_t mode, gid_t group, mode_t above = 0755) {
  const std::string b = trees.scratch.path() + "/b";
  REQUIRE(::chown(b.c_str(), someone, group) == 0);
  set_mode(b, mode);
  set_mode(trees.scratch.path(), above);
  const auto directory = File::open(AT_FDCWD, trees.other, O_PATH | O_DIRECTORY);
  REQUIRE(directory);
  const auto found = others_may_rename(*directory, someone);
  REQUIRE(found);
  return *found;
}

}  // namespace

TEST_CASE("who may write to the directory above may rename a directory, unless it is sticky") {
  if (::geteuid() != 0) return;  // only root can give directories to others
  const Trees trees;
  constexpr gid_t project = 64300;
  CHECK_FALSE(may_rename(trees, 0755, project));
  CHECK(may_rename(trees, 0775, project));
  CHECK(may_rename(trees, 0757, project));
  CHECK_FALSE(may_rename(trees, 01777, project));
}

TEST_CASE("a group with the owner's number counts as the owner, and everybody does not") {
  if (::geteuid() != 0) return;
  const Trees trees;
  CHECK_FALSE(may_rename(trees, 0775, someone));
  CHECK(may_rename(trees, 0777, someone));
}

TEST_CASE("below a directory that nobody else may enter, others may rename nothing") {
  if (::geteuid() != 0) return;
  const Trees trees;
  CHECK_FALSE(may_rename(trees, 0777, 64300, 0700));
  CHECK(may_rename(trees, 0777, 64300, 0701));
  CHECK(may_rename(trees, 0777, 64300, 0710));
}

TEST_CASE("the owner of a directory above may rename what lies in it") {
  if (::geteuid() != 0) return;
  const Trees trees;
  REQUIRE(::chown(trees.scratch.path().c_str(), 64298, 64298) == 0);
  CHECK(may_rename(trees, 0755, someone, 0755));
}
