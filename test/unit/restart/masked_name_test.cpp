// SPDX-License-Identifier: BSD-3-Clause
#include "restart/format/masked_name.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <map>

#include "test/support/catch.hpp"

using namespace mcr::restart;
using Names = std::vector<std::string>;

namespace {

template <typename... Values>
std::string format(const char* pattern, Values... values) {
  char text[512];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

bool contains(const Names& names, const std::string& wanted) {
  return std::find(names.begin(), names.end(), wanted) != names.end();
}

/// Returns the masked names that the ranks end up with, each once. Of a rank's candidates the one
/// that most ranks share counts; among equals, the most likely one.
Names names_of_set(std::uint32_t ranks, const std::function<std::string(std::uint32_t)>& path) {
  std::vector<Names> candidates;
  std::map<std::string, std::size_t> sharers;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    candidates.push_back(masked_names(path(rank), rank, ranks));
    for (const std::string& name : candidates.back()) ++sharers[name];
  }
  Names names;
  for (const Names& of_rank : candidates) {
    const auto most =
        std::max_element(of_rank.begin(), of_rank.end(),
                         [&](const auto& a, const auto& b) { return sharers[a] < sharers[b]; });
    const std::string name = most == of_rank.end() ? "native" : *most;
    if (!contains(names, name)) names.push_back(name);
  }
  return names;
}

/// Checks that every rank's path is among the sibling paths that any other rank finds under `mask`.
void check_siblings(std::uint32_t ranks, const std::string& mask,
                    const std::function<std::string(std::uint32_t)>& path) {
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    for (std::uint32_t other = 0; other < ranks; ++other) {
      INFO(path(rank) + " under " + mask + " looks for rank " + std::to_string(other));
      CHECK(contains(sibling_paths(path(rank), mask, rank, other), path(other)));
    }
  }
}

}  // namespace

TEST_CASE("the rank is the last run of digits in the file name that equals it") {
  CHECK(masked_names("out/r3.h5", 3, 8).front() == "out/r{rank}.h5");
  CHECK(masked_names("dump_0007_0003.h5", 3, 8).front() == "dump_0007_{rank}.h5");
  CHECK(masked_names("dump_0003_0007.h5", 3, 8).front() == "dump_{rank}_0007.h5");
  CHECK(masked_names("0000000000000000000003.h5", 3, 8).front() == "{rank}.h5");
  CHECK(masked_names("rank12.h5", 3, 16).empty());
  CHECK(masked_names("plain.h5", 0, 8).empty());
  CHECK(masked_names("99999999999999999999.h5", 3, 8).empty());
}

TEST_CASE("digits of an extension are no rank, not even in mid-name") {
  CHECK(masked_names("a.h5", 5, 8).empty());
  CHECK(masked_names("a.nc4", 4, 8).empty());
  CHECK(masked_names("a.HDF5", 5, 8).empty());
  CHECK(masked_names("a.h5part", 5, 8).empty());
  CHECK(masked_names("0.h5.3", 5, 8).empty());
  CHECK(masked_names("5.h5.5", 5, 8).front() == "5.h5.{rank}");
  CHECK(masked_names("h5", 5, 8) == Names{"h{rank}"});
  CHECK(masked_names("x.h6", 6, 8) == Names{"x.h{rank}"});
}

TEST_CASE("with one rank nothing is masked") {
  CHECK(masked_names("out/r0.h5", 0, 1) == Names{"out/r0.h5"});
  CHECK(masked_full_names("r0.h5", "/w/r0.h5", 0, 1) == Names{"/w/r0.h5"});
}

TEST_CASE("runs in the file name come before directories, and near directories before far ones") {
  CHECK(masked_names("3/p3/a3_b3.h5", 3, 8) ==
        Names{"3/p3/a3_b{rank}.h5", "3/p3/a{rank}_b3.h5", "3/p{rank}/a3_b{rank}.h5",
              "{rank}/p3/a3_b{rank}.h5", "{rank}/p{rank}/a3_b{rank}.h5", "3/p{rank}/a{rank}_b3.h5",
              "{rank}/p3/a{rank}_b3.h5", "{rank}/p{rank}/a{rank}_b3.h5", "3/p{rank}/a3_b3.h5",
              "{rank}/p3/a3_b3.h5", "{rank}/p{rank}/a3_b3.h5", "3/p3/a{rank}_b{rank}.h5",
              "{rank}/p{rank}/a{rank}_b{rank}.h5"});
}

TEST_CASE("only directories that the program named are searched, not its working directory") {
  CHECK(masked_full_names("out/r3.h5", "/home/u3/out/r3.h5", 3, 8) ==
        Names{"/home/u3/out/r{rank}.h5"});
  CHECK(masked_full_names("./out/./r3.h5", "/home/u3/out/r3.h5", 3, 8) ==
        Names{"/home/u3/out/r{rank}.h5"});
  CHECK(masked_full_names("../x3/r3.h5", "/home/u3/x3/r3.h5", 3, 8) ==
        Names{"/home/u3/x3/r{rank}.h5", "/home/u3/x{rank}/r{rank}.h5", "/home/u3/x{rank}/r3.h5"});
  CHECK(masked_full_names("/home/u3/r3.h5", "/home/u3/r3.h5", 3, 8).size() == 3);
  SECTION("unless none of them fits, as with a link that is named after the rank") {
    CHECK(masked_full_names("rank3/out.h5", "/local/disk3/out.h5", 3, 8) ==
          Names{"/local/disk{rank}/out.h5"});
  }
}

TEST_CASE("Enzo: DD{N}/DD{N}.cpu{R} is one set for every N") {
  for (unsigned n = 0; n <= 8; ++n) {
    const auto path = [n](std::uint32_t r) { return format("DD%04u/DD%04u.cpu%04u", n, n, r); };
    const std::string mask = format("DD%04u/DD%04u.cpu{rank}", n, n);
    CHECK(names_of_set(8, path) == Names{mask});
    check_siblings(8, mask, path);
  }
}

TEST_CASE("the rank before the step: hotstart_{R}_{N}.nc") {
  for (unsigned n = 0; n <= 8; ++n) {
    const auto path = [n](std::uint32_t r) { return format("hotstart_%06u_%u.nc", r, n); };
    CHECK(names_of_set(8, path) == Names{format("hotstart_{rank}_%u.nc", n)});
  }
  CHECK(contains(masked_names("hotstart_000005_5.nc", 5, 8), "hotstart_{rank}_5.nc"));
}

TEST_CASE("step directories and step in the name: {N}/{N}.h5.{R}") {
  for (unsigned n = 0; n <= 8; ++n) {
    const auto path = [n](std::uint32_t r) { return format("%u/%u.h5.%u", n, n, r); };
    const std::string mask = format("%u/%u.h5.{rank}", n, n);
    CHECK(names_of_set(8, path) == Names{mask});
    check_siblings(8, mask, path);
  }
}

TEST_CASE("Exodus: the number of ranks before the rank is not the rank") {
  const auto path = [](std::uint32_t r) { return format("mesh.e.8.%u", r); };
  CHECK(names_of_set(8, path) == Names{"mesh.e.8.{rank}"});
  CHECK(names_of_set(16, [](std::uint32_t r) { return format("mesh.e.16.%02u", r); }) ==
        Names{"mesh.e.16.{rank}"});
}

TEST_CASE("directories of several ranks: checkpoints/{R/4}/dump-{N%2}-{R}.h5, a ring") {
  for (const std::uint32_t ranks : {8U, 16U, 64U}) {
    for (unsigned n = 0; n < 2; ++n) {
      const auto path = [n](std::uint32_t r) {
        return format("checkpoints/%02u/dump-%05u-%010u.h5", r / 4, n, r);
      };
      const std::string mask = format("checkpoints/{ranks}/dump-%05u-{rank}.h5", n);
      CHECK(names_of_set(ranks, path) == Names{mask});
      if (ranks == 16) check_siblings(ranks, mask, path);
    }
  }
}

TEST_CASE("a directory per rank: proc{R}/out.h5 and proc{R}/out_{R}.h5") {
  const auto plain = [](std::uint32_t r) { return format("proc%u/out.h5", r); };
  CHECK(names_of_set(12, plain) == Names{"proc{rank}/out.h5"});
  check_siblings(12, "proc{rank}/out.h5", plain);
  const auto both = [](std::uint32_t r) { return format("proc%03u/out_%03u.h5", r, r); };
  CHECK(names_of_set(12, both) == Names{"proc{rank}/out_{rank}.h5"});
  check_siblings(12, "proc{rank}/out_{rank}.h5", both);
  const auto step = [](std::uint32_t r) {
    return format("/scratch/u3/step_2/p%u/ckpt_2.%u.h5", r, r);
  };
  CHECK(names_of_set(8, step) == Names{"/scratch/u3/step_2/p{rank}/ckpt_2.{rank}.h5"});
}

TEST_CASE("a step directory that happens to fit a rank is not masked") {
  for (unsigned n = 0; n < 20; ++n) {
    const auto path = [n](std::uint32_t r) { return format("/u1/step_%u/r%u.h5", n, r); };
    CHECK(names_of_set(16, path) == Names{format("/u1/step_%u/r{rank}.h5", n)});
  }
}

TEST_CASE("a dimension in the name that fits one rank is not masked") {
  const auto path = [](std::uint32_t r) { return format("rho_3d_%04u.h5", r); };
  CHECK(names_of_set(8, path) == Names{"rho_3d_{rank}.h5"});
  const auto behind = [](std::uint32_t r) { return format("rho_%04u_3d.h5", r); };
  CHECK(names_of_set(8, behind) == Names{"rho_{rank}_3d.h5"});
}

TEST_CASE("a file of a single rank may be masked too") {
  CHECK(masked_names("log_0.h5", 0, 8) == Names{"log_{rank}.h5"});
  CHECK(masked_names("plt_00000.h5", 0, 8) == Names{"plt_{rank}.h5"});
  CHECK(masked_names("d01.h5", 1, 8) == Names{"d{rank}.h5"});
  CHECK(masked_names("wrfout_d01_2000-01-24_12:00:00", 0, 8).front() ==
        "wrfout_d01_2000-01-24_12:00:{rank}");
  CHECK(masked_names("wrfout_d01_2000-01-24_12:00:00", 5, 8).empty());
}

TEST_CASE("a temporary name is masked like any other") {
  CHECK(masked_names("ckpt/state.3.h5.tmp", 3, 8) == Names{"ckpt/state.{rank}.h5.tmp"});
}

TEST_CASE(
    "paths of siblings have the width of the number if it is certain, else both widths are tried") {
  CHECK(sibling_paths("a/r0003.h5", "a/r{rank}.h5", 3, 12) == Names{"a/r0012.h5"});
  CHECK(sibling_paths("a/r3.h5", "a/r{rank}.h5", 3, 12) == Names{"a/r12.h5"});
  CHECK(sibling_paths("a/r12.h5", "a/r{rank}.h5", 12, 3) == Names{"a/r03.h5", "a/r3.h5"});
  CHECK(sibling_paths("a/r12.h5", "a/r{rank}.h5", 12, 13) == Names{"a/r13.h5"});
  CHECK(sibling_paths("a/r99.h5", "a/r{rank}.h5", 99, 100).front() == "a/r100.h5");
  CHECK(sibling_paths("a/r12.h5", "b/r{rank}.h5", 12, 13).empty());
  CHECK(sibling_paths("a/r12.h5", "a/r12.h5", 12, 13).empty());
  CHECK(sibling_paths("s/x.7.h5", "s/x.{part}.h5", 3, 4).empty());
}

TEST_CASE("a rank among billions has few possible paths, which are found at once") {
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint32_t other = 4'294'960'000; other < 4'294'960'020; ++other) {
    const auto paths = sibling_paths("d/1/5.h5", "d/{ranks}/{rank}.h5", 5, other);
    const std::string name = "/" + std::to_string(other) + ".h5";
    // 5 / k is 1 if k is 3, 4 or 5.
    CHECK(paths == Names{"d/" + std::to_string(other / 5) + name,
                         "d/" + std::to_string(other / 4) + name,
                         "d/" + std::to_string(other / 3) + name});
  }
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(10));
}

TEST_CASE("the number at the place of the mask is found") {
  CHECK(masked_number("a/r0012.h5", "a/r{rank}.h5") == 12U);
  CHECK(masked_number("03/r0012.h5", "{ranks}/r{rank}.h5") == 12U);
  CHECK(masked_number("s_005.7.hdf5", "s_005.{part}.hdf5") == 7U);
  CHECK_FALSE(masked_number("s_005.7.hdf5", "s_006.{part}.hdf5").has_value());
  CHECK_FALSE(masked_number("plain.h5", "plain.h5").has_value());
}

TEST_CASE("a pattern masks all other numbers except those of extensions") {
  CHECK(pattern_of("DD0003/DD0003.cpu{rank}") == "DD{n}/DD{n}.cpu{rank}");
  CHECK(pattern_of("checkpoints/{ranks}/dump-00001-{rank}.h5") ==
        "checkpoints/{ranks}/dump-{n}-{rank}.h5");
  CHECK(pattern_of("123456789012345678901234567890.h5") == "{n}.h5");
}

TEST_CASE("a masked name without a word for digits is of one file") {
  CHECK(is_of_one_file("/a/f_001_002.h5"));
  CHECK_FALSE(is_of_one_file("/a/f_{rank}_002.h5"));
  CHECK_FALSE(is_of_one_file("/a/{ranks}/f.h5"));
  CHECK_FALSE(is_of_one_file("/a/f_{part}.h5"));
}

TEST_CASE("all candidates together fit into a stub") {
  std::string path;
  for (int i = 0; i < 1000; ++i) path += "/d3";
  path += "/a3_b3_c3_d3.h5";
  std::size_t bytes = 0;
  for (const std::string& name : masked_names(path, 3, 8)) bytes += name.size();
  CHECK(bytes <= 24 * 1024);
  CHECK(masked_names("/3/3/3/3_3_3_3.h5", 3, 8).size() <= 16);
}
