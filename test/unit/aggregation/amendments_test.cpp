// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/amendments.hpp"

#include "test/support/catch.hpp"

using mcr::aggregation::Amendments;

namespace {

const std::string by_rank = "/run/a.{rank}.h5";
const std::string by_part = "/run/a.{part}.h5";

std::string file(const char* begin, std::uint32_t number) {
  return std::string("/run/") + begin + std::to_string(number) + ".h5";
}

/// What containers say of a set of three files, after a later launch has written those of `numbers`.
Amendments amended(const std::string& masked_name, const std::vector<std::uint32_t>& numbers,
                   const char* begin = "a.") {
  Amendments amendments;
  for (std::uint32_t number = 0; number < 3; ++number)
    amendments.add(masked_name, number, file("a.", number), "");
  for (const std::uint32_t number : numbers)
    amendments.add(masked_name, number, file(begin, number), "later");
  return amendments;
}

}  // namespace

TEST_CASE("a set is written again in part if a later launch wrote some of its files") {
  const std::string masked_name = GENERATE(as<std::string>(), by_rank, by_part);
  CHECK_FALSE(amended(masked_name, {}).are_partial());
  CHECK_FALSE(amended(masked_name, {0, 1, 2}).are_partial());
  const Amendments partly = amended(masked_name, {0, 2});
  CHECK(partly.are_partial());
  CHECK(partly.have_left_out(masked_name, 1, file("a.", 1)));
  CHECK_FALSE(partly.have_left_out(masked_name, 0, file("a.", 0)));
}

TEST_CASE("files that were renamed before a later launch wrote them are not left out") {
  const std::string masked_name = GENERATE(as<std::string>(), by_rank, by_part);
  CHECK_FALSE(amended(masked_name, {0, 1, 2}, "b.").are_partial());
  CHECK(amended(masked_name, {0, 1}, "b.").are_partial());
}

TEST_CASE("each later launch must have written all files") {
  Amendments amendments = amended(by_rank, {0, 1, 2});
  amendments.add(by_rank, 0, file("a.", 0), "still later");
  CHECK(amendments.are_partial());
  for (const std::uint32_t rank : {1, 2})
    amendments.add(by_rank, rank, file("a.", rank), "still later");
  CHECK_FALSE(amendments.are_partial());
}

TEST_CASE("the containers of a later launch alone are no part of what is not there") {
  Amendments amendments;
  for (const std::uint32_t rank : {0, 1}) amendments.add(by_rank, rank, file("a.", rank), "later");
  CHECK_FALSE(amendments.are_partial());
}

TEST_CASE("with rank and part in the names, each path is a file") {
  const std::string masked_name = "/run/a.{rank}.{part}.h5";
  Amendments amendments;
  for (const char* path : {"/run/a.0.0.h5", "/run/a.0.1.h5"})
    amendments.add(masked_name, 0, path, "");
  amendments.add(masked_name, 0, "/run/a.0.0.h5", "later");
  CHECK(amendments.are_partial());
  CHECK(amendments.have_left_out(masked_name, 0, "/run/a.0.1.h5"));
}
