// SPDX-License-Identifier: BSD-3-Clause
#include "restart/base/closed_directories.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include "test/support/catch.hpp"
#include "test/unit/restart/made_list.hpp"
#include "test/unit/restart/scratch_directory.hpp"

using namespace mcr;
using namespace mcr::restart;

namespace {

/// The directories v, v/0 and v2; all users may read them.
struct Tree {
  Tree() {
    for (const char* made : {"v", "v/0", "v2"})
      REQUIRE(::mkdirat(root.descriptor(), made, 0755) == 0);
  }
  void mode(const char* name, mode_t mode) const {
    REQUIRE(::fchmodat(root.descriptor(), name, mode, 0) == 0);
  }
  [[nodiscard]] File open(const char* name) const {
    return *File::open(root.descriptor(), name, O_PATH | O_DIRECTORY);
  }
  [[nodiscard]] struct stat status(const char* name) const { return *open(name).status(); }
  /// Returns what is left of mode 0644 for a file of ours in `base` about a file in `directory`.
  [[nodiscard]] mode_t left(const File& directory, const char* base) const {
    const Access open_to_all{status("v").st_gid, 0644, {}};
    return closed_by_directories(open_to_all, directory, FileIdentity(status(base))).mode;
  }

  ScratchDirectory place;
  File root = *File::open(AT_FDCWD, place.path(), O_PATH | O_DIRECTORY);
};

}  // namespace

TEST_CASE("only directories between a file's directory and the base restrict the access") {
  const Tree tree;
  CHECK(tree.left(tree.open("v/0"), "v") == 0644);
  tree.mode("v/0", 0700);
  CHECK(tree.left(tree.open("v/0"), "v") == 0600);
  CHECK(tree.left(tree.open("v/0"), "v/0") == 0644);
  tree.mode("v/0", 0750);
  CHECK(tree.left(tree.open("v/0"), "v") == 0640);
  tree.mode("v/0", 0751);  // who may not list it does not know the names in it
  CHECK(tree.left(tree.open("v/0"), "v") == 0640);
  tree.mode("v/0", 0711);
  CHECK(tree.left(tree.open("v/0"), "v") == 0600);
}

TEST_CASE("if the file does not lie below the base, only its owner gets access") {
  const Tree tree;
  CHECK(tree.left(tree.open("v/0"), "v2") == 0600);
  CHECK(tree.left(tree.open("v2"), "v") == 0600);  // the names begin alike
}

TEST_CASE("the deepest directory above two directories is one of them, or a common one") {
  const Tree tree;
  CHECK(*deepest_above(tree.open("v/0"), tree.open("v")) == FileIdentity(tree.status("v")));
  CHECK(*deepest_above(tree.open("v"), tree.open("v/0")) == FileIdentity(tree.status("v")));
  CHECK(*deepest_above(tree.open("v/0"), tree.open("v2")) == FileIdentity(*tree.root.status()));
}

TEST_CASE("the open directories restrict the access, even if they were renamed") {
  const Tree tree;
  const File directory = tree.open("v/0");
  tree.mode("v/0", 0700);
  const int place = tree.root.descriptor();
  REQUIRE(::renameat(place, "v", place, "x") == 0);
  const struct stat base = tree.status("x");
  const Access open_to_all{base.st_gid, 0644, {}};
  CHECK(closed_by_directories(open_to_all, directory, FileIdentity(base)).mode == 0600);
}

TEST_CASE("a directory keeps out users who may write to the base but not to the directory") {
  const Tree tree;
  tree.mode("v", 0777);
  CHECK(kept_out(tree.open("v/0"), tree.status("v")).writers == (S_IWGRP | S_IWOTH));
  tree.mode("v/0", 0775);
  CHECK(kept_out(tree.open("v/0"), tree.status("v")).writers == S_IWOTH);
  tree.mode("v/0", 0777);
  CHECK_FALSE(kept_out(tree.open("v/0"), tree.status("v")).any());
  tree.mode("v/0", 01777);
  const KeptOut of_sticky = kept_out(tree.open("v/0"), tree.status("v"));
  CHECK(of_sticky.removers);
  CHECK(of_sticky.writers == 0);
}

TEST_CASE("others take a directory away only if they may write to it and rename it") {
  const Tree tree;
  const std::string inner = tree.place / "v/0";
  tree.mode("v", 0777);
  tree.mode("v/0", 0755);
  CHECK_FALSE(others_may_move(inner));
  tree.mode("v/0", 0777);
  CHECK(others_may_move(inner));
  std::filesystem::create_directory(inner + "/below");
  CHECK(others_may_move(inner + "/below"));
  tree.mode("v", 01777);
  CHECK_FALSE(others_may_move(inner + "/below"));
  CHECK(others_may_move(inner + "/nothing"));
  if (::geteuid() != 0) return;
  tree.mode("v", 0755);
  CHECK_FALSE(others_may_move(inner));
  REQUIRE(::chown((tree.place / "v").c_str(), 12345, 12345) == 0);
  CHECK(others_may_move(inner));  // the owner of the directory above
}

TEST_CASE(
    "the directories above one are told from the nearest up to the first one of another user, or "
    "the root") {
  const Tree tree;
  const FileIdentity v(tree.status("v"));
  const FileIdentity place(*tree.root.status());
  const auto all = directories_above(tree.open("v/0"), 100);
  REQUIRE(all.size() > 2);
  CHECK(all[0] == v);
  CHECK(all[1] == place);
  CHECK(directories_above(tree.open("v/0"), 1) == std::vector{v});
  if (::geteuid() != 0) return;
  tree.mode("v", 0755);
  REQUIRE(::chown((tree.place / "v").c_str(), 12345, 12345) == 0);
  CHECK(directories_above(tree.open("v/0"), 100) == std::vector{v});
}

TEST_CASE(
    "users whom a file's access list names count as others in the directories above the file") {
  const Tree tree;
  constexpr std::uint32_t user = 64101;
  const Access listed{tree.status("v").st_gid, 0674, list_for_user(user, 4, 6)};
  const auto left = [&] {
    return closed_by_directories(listed, tree.open("v/0"), FileIdentity(tree.status("v")));
  };
  CHECK(left() == listed);
  tree.mode("v/0", 0750);
  CHECK(left() == Access{listed.group, 0640, {}});
}

TEST_CASE("a directory under a base with an access list counts as keeping writers out") {
  const Tree tree;
  for (const char* name : {"v", "v/0"}) tree.mode(name, 0755);
  CHECK_FALSE(kept_out(tree.open("v/0"), tree.status("v")).any());
  if (!set_list(tree.place / "v", list_for_user(64101, 7, 5))) return;  // not on this storage
  CHECK(kept_out(tree.open("v/0"), tree.status("v")).any());
}
