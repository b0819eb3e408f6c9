// SPDX-License-Identifier: BSD-3-Clause
#include "restart/base/trust.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "restart/base/system.hpp"
#include "test/support/catch.hpp"
#include "test/unit/restart/made_list.hpp"
#include "test/unit/restart/scratch_directory.hpp"

namespace mcr::restart {
namespace {

namespace fs = std::filesystem;

constexpr uid_t me = 1000, root = 0, neighbour = 1001, third = 1002;
constexpr gid_t project = 50;

struct stat directory_of(uid_t owner, mode_t mode, gid_t group = project) {
  struct stat status {};
  status.st_uid = owner;
  status.st_gid = group;
  status.st_mode = S_IFDIR | mode;
  return status;
}

void put(const std::string& path) {
  const int file = ::open(path.c_str(), O_CREAT | O_WRONLY, 0600);
  REQUIRE(file >= 0);
  (void)::close(file);
}

Result<Beside> beside_of(const std::string& outer, const std::string& inner) {
  return Beside::of(*File::open(AT_FDCWD, outer, O_PATH | O_DIRECTORY),
                    *File::open(AT_FDCWD, inner, O_PATH | O_DIRECTORY));
}

int refuse(int, const char*, int, mode_t) {
  errno = ENOSYS;
  return -1;
}

}  // namespace

TEST_CASE("a plain path has no empty component, no dot and no dot-dot") {
  CHECK(is_plain_path("a"));
  CHECK(is_plain_path("a/b.h5/..c"));
  for (const std::string path :
       {"", "/", "/a", "a/", "a//b", ".", "..", "a/../b", "./a", "a/.", "a/..", "../a"})
    CHECK_FALSE(is_plain_path(path));
  CHECK_FALSE(is_plain_path(std::string_view("a\0b", 3)));
}

TEST_CASE("no file outside the directory is opened, with and without openat2") {
  const ScratchDirectory scratch;
  fs::create_directories(scratch / "inside/deep");
  fs::create_directory(scratch / "outside");
  put(scratch / "inside/deep/file");
  put(scratch / "outside/file");
  fs::create_symlink("../../outside/file", scratch / "inside/deep/link");
  fs::create_directory_symlink("../outside", scratch / "inside/linked");
  fs::create_directory_symlink("deep", scratch / "inside/beside");
  REQUIRE(::mkfifo((scratch / "inside/pipe").c_str(), 0600) == 0);
  const auto inside = File::open(AT_FDCWD, scratch / "inside", O_RDONLY | O_DIRECTORY);
  REQUIRE(inside);
  SystemCalls calls = real_system_calls();
  SECTION("with") {}
  SECTION("without") { calls.open_beneath = refuse; }
  const ReplacedSystemCalls replaced(calls);
  const int at = inside->descriptor();
  CHECK(open_file_beneath(at, "deep/file"));
  for (const char* path : {"deep/link", "linked/file", "beside/file", "linked", "../outside/file",
                           "/etc/passwd", "pipe", "deep", "", "nothing/there"})
    CHECK_FALSE(open_file_beneath(at, path));
  CHECK_FALSE(open_beneath(at, "linked/new", O_WRONLY | O_CREAT));
  CHECK_FALSE(fs::exists(scratch / "outside/new"));
  CHECK(open_beneath(at, "deep/new", O_WRONLY | O_CREAT));
  CHECK(fs::exists(scratch / "inside/deep/new"));
}

TEST_CASE("users who could have replaced a file are believed about it") {
  CHECK(is_believed(me, me));
  CHECK(is_believed(root, me));
  CHECK_FALSE(is_believed(neighbour, me));
  CHECK_FALSE(is_believed(me, root));
  SECTION("in a directory of this user: this user and root") {
    const Beside own(directory_of(me, 0755), directory_of(me, 0755));
    CHECK(own.believes(me, me));
    CHECK(own.believes(root, me));
    CHECK_FALSE(own.believes(neighbour, me));
    CHECK(own.believes(me, neighbour));  // a user who moved a file there left it to us
  }
  SECTION("in a sticky directory: not the owner of the directory of containers") {
    const Beside sticky(directory_of(root, 01777), directory_of(neighbour, 0755));
    CHECK(sticky.believes(me, me));
    CHECK_FALSE(sticky.believes(neighbour, me));
    CHECK(sticky.believes(neighbour, neighbour));
  }
  SECTION("in another user's directory: its owner could replace the file, sticky or not") {
    CHECK(Beside(directory_of(neighbour, 01777), directory_of(neighbour, 0755))
              .believes(neighbour, me));
  }
  SECTION("in a project's directory: all members of its group") {
    CHECK(
        Beside(directory_of(third, 02775), directory_of(neighbour, 02775)).believes(neighbour, me));
    CHECK_FALSE(
        Beside(directory_of(third, 02775), directory_of(neighbour, 02777)).believes(neighbour, me));
  }
}

TEST_CASE("all users who may write to a shared directory count as one") {
  CHECK(Beside(directory_of(me, 0755), directory_of(me, 0755)).voice(neighbour) == neighbour);
  CHECK(Beside(directory_of(root, 01777), directory_of(me, 0755)).voice(neighbour) == neighbour);
  CHECK(Beside(directory_of(third, 02775), directory_of(me, 02775)).voice(neighbour) == root);
}

TEST_CASE("the author of a file is its owner only where nobody else could have added the file") {
  const auto author = [](const struct stat& outer, const struct stat& inner, uid_t owner) {
    return Beside(outer, inner).author(directory_of(owner, 0644));
  };
  CHECK(author(directory_of(me, 0755), directory_of(me, 0755), me) == me);
  CHECK(author(directory_of(root, 01777), directory_of(me, 0755), me) == me);
  CHECK(author(directory_of(root, 01777), directory_of(me, 01777), me) == unknown_user);
  CHECK(author(directory_of(root, 01777), directory_of(root, 01777), me) == unknown_user);
  CHECK(author(directory_of(root, 01777), directory_of(neighbour, 0755), me) == unknown_user);
  // The neighbour can move this user's files there.
  CHECK(author(directory_of(neighbour, 0755), directory_of(neighbour, 0755), me) == neighbour);
  CHECK(author(directory_of(neighbour, 0755), directory_of(me, 0755), me) == me);
  CHECK(author(directory_of(root, 0755), directory_of(root, 0755), me) == me);
  CHECK(author(directory_of(me, 0755), directory_of(me, 0775), me) == unknown_user);
  // A process of another user may have entered the inner directory before the outer one was closed.
  CHECK(author(directory_of(me, 0700), directory_of(me, 0775), me) == unknown_user);
  CHECK(author(directory_of(third, 02775), directory_of(me, 02775), neighbour) == neighbour);
  CHECK(Beside().author(directory_of(me, 0644)) == unknown_user);
}

TEST_CASE("owners and modes of a directory and the one above it are read") {
  const ScratchDirectory scratch;
  const std::string inner = scratch / "mcr";
  fs::create_directories(inner);
  struct stat status {};
  REQUIRE(::stat(inner.c_str(), &status) == 0);
  const Beside beside = *beside_of(scratch.path(), inner);
  CHECK(beside.identity() == FileIdentity(status));
  CHECK(beside.host() == ::geteuid());
  CHECK(beside.believes(::geteuid() + 1, ::geteuid() + 1));
  CHECK_FALSE(beside.believes(::geteuid() + 1, ::geteuid()));
  REQUIRE(::stat(scratch.path().c_str(), &status) == 0);
  CHECK(beside.directories() ==
        DirectoryPair{FileIdentity(status), beside.identity(), ::geteuid(), ::geteuid()});
  CHECK(Beside().believes(::geteuid(), ::geteuid()));
  CHECK_FALSE(Beside().believes(::geteuid() + 1, ::geteuid()));
}

TEST_CASE("a directory of containers is used only if no user can do more in it than beside it") {
  const auto usable = [](const struct stat& outer, const struct stat& inner) {
    return Beside(outer, inner).may_be_used();
  };
  const uid_t own = ::geteuid();
  const uid_t other = own + 1;
  CHECK(usable(directory_of(own, 0755), directory_of(own, 0755)));
  CHECK_FALSE(usable(directory_of(own, 0755), directory_of(own, 0777)));
  CHECK_FALSE(usable(directory_of(own, 0755), directory_of(own, 0775)));
  // A process of another user may have entered it before.
  CHECK_FALSE(usable(directory_of(own, 0700), directory_of(own, 0777)));
  CHECK_FALSE(usable(directory_of(root + 7, 01777), directory_of(other, 0755)));
  CHECK(usable(directory_of(root + 7, 01777), directory_of(own, 0755)));
  CHECK_FALSE(usable(directory_of(root + 7, 01777), directory_of(own, 0777)));
  CHECK_FALSE(usable(directory_of(root + 7, 01777), directory_of(own, 01777)));
  CHECK(usable(directory_of(root + 7, 0777), directory_of(other, 0777)));
  CHECK(usable(directory_of(other, 0755), directory_of(other, 0755)));
  CHECK(usable(directory_of(third, 02775), directory_of(other, 02775)));
  CHECK_FALSE(usable(directory_of(third, 0775), directory_of(own, 0775, project + 1)));
  CHECK_FALSE(usable(directory_of(own, 0755), directory_of(other, 0755)));
}

TEST_CASE(
    "a directory that lets a named user write is more open unless the one above does so too") {
  const ScratchDirectory scratch;
  const std::string inner = scratch / "mcr";
  fs::create_directories(inner);
  REQUIRE(::chmod(scratch.path().c_str(), 0755) == 0);
  const auto is_no_more_open = [&] { return beside_of(scratch.path(), inner)->is_no_more_open(); };
  if (!set_list(inner, list_for_user(neighbour, 5, 5))) return;  // not on this storage
  CHECK(is_no_more_open());
  REQUIRE(set_list(inner, list_for_user(neighbour, 7, 5)));
  CHECK_FALSE(is_no_more_open());
  REQUIRE(set_list(scratch.path(), list_for_user(neighbour, 7, 5)));
  CHECK(is_no_more_open());
}

TEST_CASE("the mode of a directory of ours is never more open than that of the directory above") {
  for (mode_t mode = 0; mode <= 07777; ++mode) {
    const struct stat outer = directory_of(me, mode, ::getegid());
    const Beside beside(outer, directory_of(me, mode_beside(outer), ::getegid()));
    CHECK(beside.is_no_more_open());
    CHECK(beside.is_no_more_listed());
    const struct stat foreign = directory_of(me, mode & ~mode_t{S_ISGID}, ::getegid() + 1);
    const Beside beside_foreign(foreign, directory_of(me, mode_beside(foreign), ::getegid()));
    CHECK(beside_foreign.is_no_more_open());
    CHECK(beside_foreign.is_no_more_listed());
  }
  CHECK(mode_beside(directory_of(me, 0755)) == 0755);
  CHECK(mode_beside(directory_of(me, 01777)) == 01755);
  CHECK(mode_beside(directory_of(me, 02775)) == 0775);
  CHECK(mode_beside(directory_of(me, 0775, ::getegid())) == 0775);
  CHECK(mode_beside(directory_of(me, 0775, ::getegid() + 1)) == 0755);
  CHECK(mode_beside(directory_of(me, 0700)) == 0700);
  // Who may enter but not list learns no names.
  CHECK(mode_beside(directory_of(me, 0711)) == 0700);
  CHECK(mode_beside(directory_of(me, 0710, ::getegid())) == 0700);
  CHECK(mode_beside(directory_of(me, 01733)) == 01700);
  CHECK(mode_beside(directory_of(me, 0751, ::getegid())) == 0750);
  CHECK(mode_beside(directory_of(me, 0751, ::getegid() + 1)) == 0700);
  CHECK(mode_beside(directory_of(me, 0750, ::getegid() + 1)) == 0750);
  // Others may write, the group may not: its members are others in a directory of another group.
  CHECK(mode_beside(directory_of(me, 0757, ::getegid())) == 0757);
  CHECK(mode_beside(directory_of(me, 0757, ::getegid() + 1)) == 0755);
  const auto is_no_more_open = [](mode_t outer, mode_t inner, gid_t group) {
    return Beside(directory_of(me, outer), directory_of(me, inner, group)).is_no_more_open();
  };
  CHECK(is_no_more_open(0757, 0757, project));
  CHECK_FALSE(is_no_more_open(0757, 0775, project));
  CHECK_FALSE(is_no_more_open(0757, 0757, project + 1));
  CHECK_FALSE(is_no_more_open(0757, 0775, project + 1));
  CHECK(is_no_more_open(0777, 0777, project + 1));
}

}  // namespace mcr::restart
