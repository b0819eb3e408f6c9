// SPDX-License-Identifier: BSD-3-Clause
#include "restart/base/access_list.hpp"

#include <fcntl.h>
#include <grp.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "restart/base/attributes.hpp"
#include "restart/base/membership.hpp"
#include "test/support/catch.hpp"
#include "test/unit/restart/made_list.hpp"
#include "test/unit/restart/scratch_directory.hpp"

using namespace mcr;
using namespace mcr::restart;

TEST_CASE("the mask limits the rights of the owning group") {
  CHECK(rights_of_own_group(made_list({{Tag::own_group, 7, 0}, {Tag::mask, 5, 0}})) == 05);
  CHECK(rights_of_own_group(made_list({{Tag::own_group, 4, 0}, {Tag::mask, 7, 0}})) == 04);
  CHECK(rights_of_own_group(made_list({{Tag::mask, 7, 0}})) == 0);
  CHECK(rights_of_own_group({}) == 0);
}

TEST_CASE("groups of a list have only those rights in common that each named entry grants too") {
  const Bytes list = made_list(
      {{Tag::user, 4, 1000}, {Tag::own_group, 6, 0}, {Tag::group, 7, 1234}, {Tag::mask, 7, 0}});
  CHECK(rights_of_all_groups(list) == 04);
  CHECK(rights_of_all_groups(made_list({{Tag::user, 0, 1000}, {Tag::own_group, 6, 0}})) == 0);
}

TEST_CASE("a list gets the owner's, the mask's and the others' rights from a mode") {
  const Bytes list = made_list({{Tag::owner, 7, 0},
                                {Tag::user, 6, 1000},
                                {Tag::own_group, 6, 0},
                                {Tag::mask, 7, 0},
                                {Tag::others, 4, 0}});
  CHECK(list_with_mode(list, 0640) == made_list({{Tag::owner, 6, 0},
                                                 {Tag::user, 6, 1000},
                                                 {Tag::own_group, 6, 0},
                                                 {Tag::mask, 4, 0},
                                                 {Tag::others, 0, 0}}));
}

TEST_CASE("of a list that ends within an entry, only the whole entries before it count") {
  Bytes list = made_list({{Tag::own_group, 6, 0}, {Tag::user, 0, 1000}});
  list.resize(list.size() - 1);
  CHECK(rights_of_all_groups(list) == 06);
  CHECK(rights_of_own_group(ByteSpan(list).first(3)) == 0);
}

TEST_CASE("a list lets a named user write who may not write to the directory above") {
  struct stat above {};
  above.st_mode = 0755;
  above.st_uid = 1;
  above.st_gid = 2;
  const Bytes writer = made_list({{Tag::user, 7, 1000}, {Tag::mask, 7, 0}});
  CHECK(lets_more_write(writer, {}, above));
  CHECK_FALSE(lets_more_write(writer, writer, above));
  CHECK(lets_more_write(writer, made_list({{Tag::user, 7, 1000}, {Tag::mask, 5, 0}}), above));
  CHECK(lets_more_write(writer, made_list({{Tag::group, 7, 1000}, {Tag::mask, 7, 0}}), above));
  // An entry has no effect if the mask denies the right to write, or if the right to enter is
  // missing.
  CHECK_FALSE(lets_more_write(made_list({{Tag::user, 7, 1000}, {Tag::mask, 5, 0}}), {}, above));
  CHECK_FALSE(lets_more_write(made_list({{Tag::user, 6, 1000}, {Tag::mask, 7, 0}}), {}, above));
  // The owner of the directory above may write there anyway; its group may if the mode says so.
  CHECK_FALSE(lets_more_write(made_list({{Tag::user, 7, 1}}), {}, above));
  CHECK(lets_more_write(made_list({{Tag::group, 7, 2}}), {}, above));
  above.st_mode = 0775;
  CHECK_FALSE(lets_more_write(made_list({{Tag::group, 7, 2}}), {}, above));
}

TEST_CASE("a directory lets a user write to whom the list of the directory above denies it") {
  struct stat above {};
  above.st_mode = 0775;
  above.st_uid = 1;
  above.st_gid = 2;
  struct stat below = above;
  below.st_uid = 3;
  bool is_member = true;
  const auto lets = [&](const Bytes& list, const Bytes& list_above) {
    return lets_denied_write(list, below, list_above, above, [&](uid_t user, gid_t) {
      CHECK(user == 1000);
      return is_member;
    });
  };
  const auto of_user = [](std::uint16_t rights, std::uint16_t mask = 7) {
    return made_list({{Tag::user, rights, 1000}, {Tag::own_group, 7, 0}, {Tag::mask, mask, 0}});
  };
  const Bytes denies = of_user(5);
  CHECK_FALSE(lets({}, {}));
  CHECK_FALSE(lets({}, of_user(7)));
  CHECK(lets({}, of_user(7, 5)));
  CHECK(lets({}, denies));  // as a member of the group
  CHECK_FALSE(lets(denies, denies));
  CHECK(lets(of_user(7), denies));
  CHECK_FALSE(lets(of_user(7, 5), denies));
  const Bytes other_group = made_list({{Tag::group, 7, 9}, {Tag::mask, 7, 0}});
  below.st_mode = 0755;
  CHECK_FALSE(lets({}, denies));
  CHECK(lets(other_group, denies));
  is_member = false;
  below.st_mode = 0775;
  CHECK_FALSE(lets({}, denies));
  CHECK_FALSE(lets(other_group, denies));
  below.st_mode = 0757;
  CHECK(lets({}, denies));  // as one of the others
  is_member = true;
  below.st_mode = 0775;
  above.st_uid = 1000;  // the entry of an owner has no effect
  CHECK_FALSE(lets({}, denies));
  above.st_uid = 1;
  below.st_uid = 1000;  // denies_write_to() tells
  CHECK_FALSE(lets({}, denies));
  const Bytes unreadable{std::byte{1}};  // it may deny anybody
  CHECK(lets({}, unreadable));
  below.st_mode = 0755;
  CHECK_FALSE(lets({}, unreadable));
}

TEST_CASE("the entry of a group denies only what its members would get as others") {
  struct stat above {};
  above.st_mode = 0777;
  above.st_gid = 2;
  struct stat below = above;
  const Bytes denies = made_list({{Tag::group, 5, 9}, {Tag::own_group, 7, 0}, {Tag::mask, 7, 0}});
  const auto lets = [&](const Bytes& list) {
    return lets_denied_write(list, below, denies, above, [](uid_t, gid_t) { return true; });
  };
  CHECK(lets({}));
  CHECK_FALSE(lets(denies));
  below.st_mode = 0775;
  CHECK_FALSE(lets({}));
  below.st_gid = 4;  // whose members may be of group 9
  CHECK(lets({}));
}

namespace {

constexpr int reads = 1, lists = 2, enters = 4, has_any = 8;

/// Asks the kernel what the user may do: reads | lists | enters | has_any (right to the file).
int ask_kernel(const std::string& file, const std::string& directory, uid_t user,
               const std::vector<gid_t>& groups) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::setgroups(groups.size(), groups.data()) != 0 || ::setresgid(60000, 60000, 60000) != 0 ||
        ::setresuid(user, user, user) != 0)
      ::_exit(64);
    const bool uses = ::access(file.c_str(), R_OK) == 0 || ::access(file.c_str(), W_OK) == 0;
    const bool any = uses || ::access(file.c_str(), X_OK) == 0;
    const auto to_directory = [&](int right) { return ::access(directory.c_str(), right) == 0; };
    ::_exit((uses ? reads : 0) | (any ? has_any : 0) | (to_directory(X_OK) ? enters : 0) |
            (to_directory(R_OK | X_OK) ? lists : 0));
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  REQUIRE(WEXITSTATUS(status) < 64);
  return WEXITSTATUS(status);
}

/// A list with up to two named users and groups, or none.
Bytes random_list(std::mt19937& random) {
  const auto rights = [&] { return static_cast<std::uint16_t>(random() % 8); };
  const auto chance = [&] { return random() % 2 == 0; };
  if (random() % 4 == 0) return {};
  std::vector<std::tuple<Tag, std::uint16_t, std::uint32_t>> entries{{Tag::owner, 7, ~0U}};
  for (const uid_t user : {61001, 61002})
    if (chance()) entries.emplace_back(Tag::user, rights(), user);
  entries.emplace_back(Tag::own_group, rights(), ~0U);
  for (const gid_t group : {61101, 61102})
    if (chance()) entries.emplace_back(Tag::group, rights(), group);
  entries.emplace_back(Tag::mask, rights(), ~0U);
  entries.emplace_back(Tag::others, rights(), ~0U);
  Bytes list;
  Writer writer(list);
  writer.u32(2);
  for (const auto& [tag, allowed, id] : entries) {
    writer.u16(static_cast<std::uint16_t>(tag));
    writer.u16(allowed);
    writer.u32(id);
  }
  return list;
}

}  // namespace

TEST_CASE(
    "whether all who may use a file may list a directory, or enter it, is as the kernel decides "
    "it") {
  if (::geteuid() != 0) return;
  const ScratchDirectory scratch;
  REQUIRE(::chmod(scratch.path().c_str(), 0711) == 0);
  const std::string file = scratch / "file";
  const std::string directory = scratch / "directory";
  std::mt19937 random(7);
  for (int round = 0; round < 150; ++round) {
    REQUIRE(File::open(AT_FDCWD, file, O_RDWR | O_CREAT, 0600));
    REQUIRE(::mkdir(directory.c_str(), 0700) == 0);
    const std::vector<gid_t> groups{61100, 61101, 61102};
    const auto prepare = [&](const std::string& path, mode_t mode) {
      const Bytes list = random_list(random);
      REQUIRE(::chown(path.c_str(), 61000, groups[random() % 2]) == 0);
      REQUIRE(::chmod(path.c_str(), mode) == 0);
      return list.empty() ||
             ::setxattr(path.c_str(), access_list_name, list.data(), list.size(), 0) == 0;
    };
    if (!prepare(file, 0600 | random() % 0100) || !prepare(directory, 0700 | random() % 0100))
      return;  // this storage has no access lists
    const auto of_file = access_of(*File::open(AT_FDCWD, file, O_RDONLY));
    const File above = *File::open(AT_FDCWD, directory, O_RDONLY | O_DIRECTORY);
    const auto of_directory = access_of(above);
    bool all_list = true;
    bool all_enter = true;
    for (const uid_t user : {61001, 61002, 61003}) {
      for (unsigned subset = 0; subset < 8; ++subset) {
        std::vector<gid_t> member_of;
        for (unsigned i = 0; i < 3; ++i)
          if ((subset >> i & 1U) != 0) member_of.push_back(groups[i]);
        const int may = ask_kernel(file, directory, user, member_of);
        all_list = all_list && ((may & reads) == 0 || (may & lists) != 0);
        all_enter = all_enter && ((may & has_any) == 0 || (may & enters) != 0);
      }
    }
    CHECK(lets_all_list(*above.status(), of_directory->list, of_file->mode, of_file->group,
                        of_file->list) == all_list);
    const struct stat inner = *File::open(AT_FDCWD, file, O_RDONLY)->status();
    CHECK(lets_all_enter(*above.status(), of_directory->list, inner, of_file->list) == all_enter);
    std::filesystem::remove(file);
    std::filesystem::remove(directory);
  }
}

TEST_CASE("a list lets a user list more only if he may not both list and enter above") {
  constexpr struct stat no_status {};
  const auto of_user = [](std::uint16_t rights) {
    return made_list({{Tag::user, rights, 1000}, {Tag::mask, 7, 0}});
  };
  for (const std::uint16_t here : std::array<std::uint16_t, 4>{1, 4, 5, 7})
    for (const std::uint16_t above : std::array<std::uint16_t, 5>{0, 1, 4, 5, 7})
      CHECK(lets_more_list(of_user(here), of_user(above), no_status) == ((above & 5) != 5));
  CHECK_FALSE(lets_more_list(of_user(2), of_user(0), no_status));
  CHECK(lets_more_list(of_user(5), {}, no_status));
}

TEST_CASE("a list denies a user to write only by an entry of his own") {
  const auto of_user = [](std::uint16_t rights, std::uint16_t mask) {
    return made_list({{Tag::user, rights, 1000}, {Tag::group, 5, 1001}, {Tag::mask, mask, 0}});
  };
  CHECK(denies_write_to(of_user(5, 7), 1000));
  CHECK(denies_write_to(of_user(7, 5), 1000));
  CHECK_FALSE(denies_write_to(of_user(7, 7), 1000));
  CHECK_FALSE(denies_write_to(of_user(5, 7), 1001));
  CHECK_FALSE(denies_write_to({}, 1000));
  CHECK(denies_write_to(Bytes{std::byte{1}}, 1000));
}

TEST_CASE("a user whom the account database does not know counts as a member of each group") {
  constexpr uid_t root = 0, nobody_knows = 61234;
  REQUIRE(groups_of(root));
  CHECK(may_be_member(root, groups_of(root)->first));
  CHECK_FALSE(may_be_member(root, 61234));
  REQUIRE_FALSE(groups_of(nobody_knows));
  CHECK(may_be_member(nobody_knows, 61234));
}
