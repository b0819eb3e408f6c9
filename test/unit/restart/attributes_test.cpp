// SPDX-License-Identifier: BSD-3-Clause
// Mode, group and access list of a container with several files' data, and of a file that replaces
// another file.
#include "restart/base/attributes.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>

#include "restart/base/access_list.hpp"
#include "restart/base/system.hpp"
#include "test/support/catch.hpp"
#include "test/unit/restart/scratch_directory.hpp"

using namespace mcr;
using namespace mcr::restart;

namespace {

Access of(gid_t group, mode_t mode, Bytes list = {}) { return {group, mode, std::move(list)}; }

File make(const ScratchDirectory& scratch, const std::string& name, mode_t mode) {
  auto made = File::open(AT_FDCWD, scratch / name, O_RDWR | O_CREAT | O_EXCL, 0600);
  REQUIRE(made);
  REQUIRE(::fchmod(made->descriptor(), mode) == 0);
  return std::move(*made);
}

mode_t mode_of(const File& file) { return file.status()->st_mode & 07777; }

int refused(int /*file*/, uid_t /*user*/, gid_t /*group*/) {
  errno = EPERM;
  return -1;
}

}  // namespace

TEST_CASE("files of one group have the bits that all of them have, without execute permission") {
  CHECK(common_access({of(7, 0755)}) == of(7, 0644));
  CHECK(common_access({of(7, 0644), of(7, 0640)}) == of(7, 0640));
  CHECK(common_access({of(7, 0664), of(7, 0646)}) == of(7, 0644));
  CHECK(common_access({of(7, 0400)}) == of(7, 0600));
  CHECK(common_access({}).mode == 0600);
}

TEST_CASE(
    "with files of two groups, group members get only the rights that both groups and all others "
    "have") {
  CHECK(common_access({of(7, 0640), of(8, 0640)}) == of(7, 0600));
  CHECK(common_access({of(7, 0640), of(8, 0644)}) == of(7, 0640));
  CHECK(common_access({of(7, 0644), of(8, 0644)}) == of(7, 0644));
  // The second file is closed to group 8, whose members count as others for the first file.
  CHECK(common_access({of(7, 0644), of(8, 0604)}) == of(7, 0600));
}

TEST_CASE(
    "an access list with an empty mask, which the kernel would ignore, gives no access to others") {
  const Bytes list{std::byte{1}};
  CHECK(common_access({of(7, 0715, list)}) == of(7, 0600));
  CHECK(common_access({of(7, 0654, list)}) == of(7, 0644, list));
}

TEST_CASE("files with different access lists are readable by the owner alone") {
  const Bytes one{std::byte{1}};
  const Bytes two{std::byte{2}};
  CHECK(common_access({of(7, 0644, one), of(7, 0644, one)}) == of(7, 0644, one));
  CHECK(common_access({of(7, 0644, one), of(7, 0644, two)}) == of(7, 0600));
  CHECK(common_access({of(7, 0644, one), of(7, 0644)}) == of(7, 0600));
  CHECK(common_access({of(7, 0644, one), of(8, 0644, one)}) == of(7, 0600));
}

TEST_CASE(
    "a file that cannot get its group gives this group its rights by a list, and its own group "
    "none") {
  const ScratchDirectory scratch;
  const File file = make(scratch, "file", 0600);
  const gid_t other = file.status()->st_gid + 1;
  const Bytes list = list_for_foreign_group({}, 0640, other);
  if (::fsetxattr(file.descriptor(), access_list_name, list.data(), list.size(), 0) != 0)
    return;  // not on this storage
  SystemCalls calls = real_system_calls();
  calls.fchown = refused;
  const ReplacedSystemCalls replaced(calls);
  for (const mode_t mode : {0640, 0660, 0624}) {
    REQUIRE(give_access(file, of(other, mode)));
    CHECK(mode_of(file) == mode);
    CHECK(access_of(file)->list == list_for_foreign_group({}, mode, other));
  }
  // With an empty mask the list has no effect, and members of the group would be others.
  REQUIRE(give_access(file, of(other, 0604)));
  CHECK(mode_of(file) == 0600);
  // A list of the file's own keeps its entries.
  const Bytes own = list_for_foreign_group({}, 0640, other + 1);
  REQUIRE(give_access(file, of(other, 0640, own)));
  CHECK(access_of(file)->list == list_for_foreign_group(own, 0640, other));
}

TEST_CASE(
    "without access lists, a file that cannot get its group gives group and others only the rights "
    "that both have") {
  const ScratchDirectory scratch;
  const File file = make(scratch, "file", 0600);
  SystemCalls calls = real_system_calls();
  calls.fchown = refused;
  calls.fsetxattr = [](int, const char*, const void*, std::size_t, int) {
    errno = EOPNOTSUPP;
    return -1;
  };
  const ReplacedSystemCalls replaced(calls);
  const gid_t other = file.status()->st_gid + 1;
  REQUIRE(give_access(file, of(other, 0640)));
  CHECK(mode_of(file) == 0600);
  REQUIRE(give_access(file, of(other, 0604)));
  CHECK(mode_of(file) == 0600);
  REQUIRE(give_access(file, of(other, 0644)));
  CHECK(mode_of(file) == 0644);
}

TEST_CASE(
    "a file that replaces another one has the other's mode and user attributes, however many") {
  const ScratchDirectory scratch;
  const File from = make(scratch, "from", 0640);
  const File to = make(scratch, "to", 0600);
  if (::fsetxattr(from.descriptor(), "user.first", "1", 1, 0) != 0) return;  // not on this storage
  const std::string name = "user." + std::string(200, 'n');
  for (int i = 0; i < 8; ++i)
    REQUIRE(::fsetxattr(from.descriptor(), (name + std::to_string(i)).c_str(), "value", 5, 0) == 0);
  REQUIRE(copy_attributes(from, to));
  CHECK(mode_of(to) == 0640);
  char value[8];
  CHECK(::fgetxattr(to.descriptor(), "user.first", value, sizeof value) == 1);
  for (int i = 0; i < 8; ++i)
    CHECK(::fgetxattr(to.descriptor(), (name + std::to_string(i)).c_str(), value, sizeof value) ==
          5);
}

TEST_CASE("no file gets a setuid or setgid bit from the file that it replaces") {
  const ScratchDirectory scratch;
  const File from = make(scratch, "from", 06755);
  const File to = make(scratch, "to", 0600);
  REQUIRE(copy_attributes(from, to));
  CHECK(mode_of(to) == 0755);
}

TEST_CASE(
    "a file that replaces another user's file is no more open than a new file, nor than the old "
    "one") {
  if (::geteuid() != 0) return;
  const ScratchDirectory scratch;
  const mode_t before = ::umask(027);
  const auto replaced_by = [&](mode_t mode, gid_t group) {
    const std::string name = std::to_string(mode) + "." + std::to_string(group);
    const File from = make(scratch, "from" + name, 0600);
    REQUIRE(::fchown(from.descriptor(), 12345, group) == 0);
    REQUIRE(::fchmod(from.descriptor(), mode) == 0);
    const bool has_attributes = ::fsetxattr(from.descriptor(), "user.first", "1", 1, 0) == 0;
    const File to = make(scratch, "to" + name, 0600);
    REQUIRE(copy_attributes(from, to));
    char value[8];
    CHECK((!has_attributes || ::fgetxattr(to.descriptor(), "user.first", value, sizeof value) < 0));
    CHECK(to.status()->st_uid == 0);
    CHECK(to.status()->st_gid == 0);
    return mode_of(to);
  };
  CHECK(replaced_by(06777, 0) == 0640);
  CHECK(replaced_by(0604, 0) == 0600);
  CHECK(replaced_by(0666, 12345) == 0640);
  CHECK(replaced_by(0660, 12345) == 0600);
  ::umask(before);
}

TEST_CASE("a directory is opened as far as its parent directory") {
  const ScratchDirectory scratch;
  REQUIRE(::chmod(scratch.path().c_str(), 0755) == 0);
  REQUIRE(::mkdir((scratch / "in").c_str(), 0700) == 0);
  const auto outer = File::open(AT_FDCWD, scratch.path(), O_RDONLY | O_DIRECTORY);
  const auto inner = File::open(AT_FDCWD, scratch / "in", O_RDONLY | O_DIRECTORY);
  REQUIRE((outer && inner));
  REQUIRE(open_as_parent(*inner, *outer));
  CHECK(mode_of(*inner) == 0755);
  REQUIRE(::chmod(scratch.path().c_str(), 0770) == 0);
  REQUIRE(::chmod((scratch / "in").c_str(), 0700) == 0);
  REQUIRE(open_as_parent(*inner, *outer));
  CHECK(mode_of(*inner) == 0750);
  REQUIRE(::chmod(scratch.path().c_str(), 0711) == 0);
  REQUIRE(::chmod((scratch / "in").c_str(), 0700) == 0);
  REQUIRE(open_as_parent(*inner, *outer));
  CHECK(mode_of(*inner) == 0700);
}
