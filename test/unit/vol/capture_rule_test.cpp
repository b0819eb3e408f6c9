// SPDX-License-Identifier: BSD-3-Clause
#include "vol/capture/capture_rule.hpp"

#include "restart/format/journal.hpp"
#include "test/support/catch.hpp"

namespace mcr::vol {

namespace {
std::vector<std::string> names(std::string_view files, const std::string& path,
                               std::uint32_t rank = 3, std::uint32_t rank_count = 8) {
  return captured_names({files, path, path, rank, rank_count}).masked_names;
}
}  // namespace

TEST_CASE("a glob without a slash is compared with the file name") {
  CHECK(match_glob("*.h5", "/data/out/a.h5", 0) == "/data/out/a.h5");
  CHECK(match_glob("a.h5", "/data/out/a.h5", 0));
  CHECK_FALSE(match_glob("*.nc", "/data/out/a.h5", 0));
  CHECK_FALSE(match_glob("out*", "/data/out/a.h5", 0));
}

TEST_CASE("a glob with slashes is compared with as many components at the path's end") {
  CHECK(match_glob("out/*.h5", "/data/out/a.h5", 0));
  CHECK_FALSE(match_glob("data/*.h5", "/data/out/a.h5", 0));
  CHECK_FALSE(match_glob("a/b/c/d.h5", "/c/d.h5", 0));
  CHECK(match_glob("/data/*/a.h5", "/data/out/a.h5", 0));
  CHECK_FALSE(match_glob("/data/*.h5", "/data/out/a.h5", 0));
}

TEST_CASE("stars, question marks and brackets stay within a component") {
  CHECK(match_glob("*/*", "/x/y", 0));
  CHECK_FALSE(match_glob("/*", "/x/y", 0));
  CHECK(match_glob("?.h[0-9]", "/x/a.h5", 0));
  CHECK_FALSE(match_glob("?.h[!0-9]", "/x/a.h5", 0));
  CHECK(match_glob("[ab].h5", "/x/b.h5", 0));
}

TEST_CASE("{rank} matches only the rank, with any number of zeros before it") {
  CHECK(match_glob("ckpt_{rank}.h5", "/x/ckpt_3.h5", 3) == "/x/ckpt_{rank}.h5");
  CHECK(match_glob("ckpt_{rank}.h5", "/x/ckpt_00003.h5", 3) == "/x/ckpt_{rank}.h5");
  CHECK_FALSE(match_glob("ckpt_{rank}.h5", "/x/ckpt_4.h5", 3));
  CHECK_FALSE(match_glob("ckpt_{rank}.h5", "/x/ckpt_13.h5", 3));
}

TEST_CASE("{part} is any number, {set} any text") {
  CHECK(match_glob("snapshot_{set}.{part}.hdf5", "/x/snapshot_005.7.hdf5", 3) ==
        "/x/snapshot_005.{part}.hdf5");
  CHECK_FALSE(match_glob("snapshot_{set}.{part}.hdf5", "/x/snapshot_005.x.hdf5", 3));
}

TEST_CASE("matching a glob with many stars ends") {
  const std::string stars(200, '*');
  CHECK_FALSE(match_glob(stars + "x", "/" + std::string(250, 'a'), 0));
}

TEST_CASE("files=auto captures files whose name contains the rank") {
  CHECK(names("auto", "/x/ckpt_0003.h5") == std::vector<std::string>{"/x/ckpt_{rank}.h5"});
  CHECK(names("auto", "/x/log.h5").empty());
}

TEST_CASE("files=* captures every file; a path without the rank is its own masked name") {
  CHECK(names("*", "/x/log.h5") == std::vector<std::string>{"/x/log.h5"});
}

TEST_CASE("a file that files= captures whichever rank writes it can also be a set of its own") {
  using Names = std::vector<std::string>;
  CHECK(names("*", "/x/ckpt_3.h5") == Names{"/x/ckpt_{rank}.h5", "/x/ckpt_3.h5"});
  CHECK(names("ckpt*", "/x/ckpt_3.h5") == Names{"/x/ckpt_{rank}.h5", "/x/ckpt_3.h5"});
  CHECK(names("*", "/x/state.h5", 0, 1) == Names{"/x/state.h5"});
  const std::string many = "/3/3/3_3_3_3.h5";
  CHECK(names("*", many).size() <= restart::max_masked_names);
  CHECK(names("*", many).back() == many);
}

TEST_CASE("the result says whether auto decided") {
  const auto by_auto = [](std::string_view files, const std::string& path) {
    return captured_names({files, path, path, 3, 8}).by_auto;
  };
  CHECK(by_auto("auto", "/x/ckpt_3.h5"));
  CHECK(by_auto("auto", "/x/ckpt_4.h5"));
  CHECK(by_auto("*.nc;auto", "/x/ckpt_3.h5"));
  CHECK_FALSE(by_auto("auto;*.h5", "/x/ckpt_4.h5"));
  CHECK_FALSE(by_auto("*", "/x/ckpt_3.h5"));
}

TEST_CASE("of the items without {rank} and {part}, the first that matches decides") {
  CHECK(names("*.nc;ckpt_{rank}.h5", "/x/ckpt_3.h5") ==
        std::vector<std::string>{"/x/ckpt_{rank}.h5"});
  CHECK(names("*.nc", "/x/ckpt_3.h5").empty());
  CHECK(names("log.h5;auto", "/x/ckpt_3.h5") == std::vector<std::string>{"/x/ckpt_{rank}.h5"});
}

TEST_CASE("a glob that says where the number is comes before auto and other globs") {
  using Names = std::vector<std::string>;
  const auto named_by_part = Names{"/run3/ck.{part}.h5"};
  CHECK(names("auto;ck.{part}.h5", "/run3/ck.7.h5") == named_by_part);
  CHECK(names("auto;ck.{part}.h5", "/run3/ck.3.h5") == named_by_part);
  CHECK(names("*;ck.{part}.h5", "/run3/ck.3.h5") == named_by_part);
  CHECK(names("auto;ck.{part}.h5", "/x/other_3.h5") == Names{"/x/other_{rank}.h5"});
}

TEST_CASE("auto captures every file of a program of one rank") {
  CHECK_FALSE(names("auto", "/x/state.h5", 0, 1).empty());
}

}  // namespace mcr::vol
