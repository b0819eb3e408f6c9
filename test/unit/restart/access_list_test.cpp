// SPDX-License-Identifier: BSD-3-Clause
#include "restart/base/access_list.hpp"

#include "test/support/catch.hpp"
#include "test/unit/restart/made_list.hpp"

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

TEST_CASE("a directory lets a user write whom the list of the directory above shuts out") {
  struct stat above {};
  above.st_mode = 0775;
  above.st_uid = 1;
  above.st_gid = 2;
  struct stat below = above;
  below.st_uid = 3;
  const auto of_user = [](std::uint16_t rights) {
    return made_list({{Tag::user, rights, 1000}, {Tag::own_group, 7, 0}, {Tag::mask, 7, 0}});
  };
  const Bytes shuts_out = of_user(5);
  CHECK_FALSE(lets_shut_out_write({}, below, {}, above));
  CHECK_FALSE(lets_shut_out_write({}, below, of_user(7), above));
  CHECK(lets_shut_out_write({}, below, shuts_out, above));  // he may be of the group
  CHECK_FALSE(lets_shut_out_write(shuts_out, below, shuts_out, above));
  CHECK(lets_shut_out_write(of_user(7), below, shuts_out, above));
  below.st_mode = 0757;
  CHECK(lets_shut_out_write({}, below, shuts_out, above));  // as one of the others
  below.st_mode = 0755;
  CHECK_FALSE(lets_shut_out_write({}, below, shuts_out, above));
  CHECK(lets_shut_out_write(made_list({{Tag::group, 7, 9}, {Tag::mask, 7, 0}}), below, shuts_out,
                            above));
  // The entries of owners have no effect.
  below.st_mode = 0775;
  above.st_uid = 1000;
  CHECK_FALSE(lets_shut_out_write({}, below, shuts_out, above));
  above.st_uid = 1;
  // Members of a group that is shut out may write as members of the owning group in both directories.
  const Bytes shuts_group_out =
      made_list({{Tag::group, 5, 1000}, {Tag::own_group, 7, 0}, {Tag::mask, 7, 0}});
  CHECK_FALSE(lets_shut_out_write({}, below, shuts_group_out, above));
  below.st_gid = 4;
  CHECK(lets_shut_out_write({}, below, shuts_group_out, above));
  below.st_gid = 2;
  below.st_mode = 0777;
  CHECK(lets_shut_out_write({}, below, shuts_group_out, above));
}
