// SPDX-License-Identifier: BSD-3-Clause
// Finds the ranks that may have a file under a masked name, even if a stub claims a huge number of
// ranks.
#include "restart/sets/ranks_to_probe.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "restart/sets/known_generations.hpp"
#include "test/support/catch.hpp"
#include "test/unit/restart/scratch_directory.hpp"

using namespace mcr::restart;
namespace fs = std::filesystem;

namespace {

using Ranks = std::set<std::uint32_t>;
constexpr std::uint32_t many = 4'000'000'000;

void touch(const std::string& path) {
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path) << "x";
}

bool not_asked(std::uint32_t rank) {
  FAIL("rank " << rank << " was looked up");
  return false;
}
bool never(std::uint32_t /*rank*/) { return false; }

Ranks ranks_of(const PresentNames& present) {
  Ranks ranks;
  for (const auto& [rank, there] : present.at) ranks.insert(static_cast<std::uint32_t>(rank));
  return ranks;
}

}  // namespace

TEST_CASE("if there are few ranks, all are tried") {
  CHECK(ranks_to_probe("/nowhere/a_{rank}.h5", 3, not_asked) == Ranks{0, 1, 2});
}

TEST_CASE("if there are many ranks, those whose number is in a file's name are tried") {
  const ScratchDirectory scratch;
  const std::string dir = scratch.path();
  for (const char* name : {"a_7.h5", "a_0012.h5", "a_3999999999.h5", "a_4000000000.h5", "a_.h5",
                           "b_9.h5", "a_11.h5x", "a_99999999999999999999.h5"})
    touch(dir + "/" + name);
  CHECK(ranks_to_probe(dir + "/a_{rank}.h5", many, not_asked) == Ranks{7, 12, 3999999999});
}

TEST_CASE("if there are many ranks, those whose number is in a directory's name are tried") {
  const ScratchDirectory scratch;
  const std::string dir = scratch.path();
  touch(dir + "/rank5/a.h5");
  touch(dir + "/rank17/b.h5");
  touch(dir + "/rank17.h5");
  CHECK(ranks_to_probe(dir + "/rank{rank}/a.h5", many, not_asked) == Ranks{5, 17});
  touch(dir + "/00/dump-0013.h5");
  touch(dir + "/01/dump-2013.h5");
  touch(dir + "/x1/dump-3013.h5");
  CHECK(ranks_to_probe(dir + "/{ranks}/dump-{rank}.h5", many, not_asked) == Ranks{13, 2013});
}

TEST_CASE("a missing directory gives no ranks") {
  CHECK(ranks_to_probe("/nowhere/a_{rank}.h5", many, not_asked).empty());
  CHECK(ranks_to_probe("/nowhere/{ranks}/a_{rank}.h5", many, not_asked).empty());
  CHECK(ranks_to_probe("/etc/passwd", many, not_asked).empty());
}

TEST_CASE("listing and trying find the same names, whatever the width of the number") {
  const ScratchDirectory scratch;
  const std::string dir = scratch.path();
  for (const char* name : {"a_12.h5", "a_3.h5", "a_07.h5", "a_1000.h5"}) touch(dir + "/" + name);
  const std::string path = dir + "/a_12.h5";
  const std::string masked = dir + "/a_{rank}.h5";
  Look look;
  const OpenedStub opened{path, 12, path, ::geteuid()};
  const auto tried = present_names(opened, masked, ranks_looked_up, std::string("mcr"), look);
  const auto listed = present_names(opened, masked, many, std::string("mcr"), look);
  CHECK(ranks_of(tried) == Ranks{3, 7, 12, 1000});
  CHECK(tried.paths == listed.paths);
}

TEST_CASE("if the directory cannot be listed, ranks are tried until too many have no file") {
  const ScratchDirectory scratch;
  const std::string file = scratch.path() + "/file";
  touch(file);
  // ENOTDIR means that there are no files. A name that is too long gives an error that says nothing
  // about files.
  const std::string unlistable = "/" + std::string(300, 'x') + "/a_{rank}.h5";
  CHECK(ranks_to_probe(file + "/a_{rank}.h5", many, not_asked).empty());
  CHECK(ranks_to_probe(unlistable, many, never).empty());
  const auto all_but_one_of_ten = [](std::uint32_t rank) { return rank % 10 != 0; };
  CHECK(ranks_to_probe(unlistable, 1'000'000, all_but_one_of_ten).size() == 900'000);
}

TEST_CASE("a few files, far apart, do not make the search try all ranks") {
  const std::string unlistable = "/" + std::string(300, 'x') + "/a_{rank}.h5";
  std::uint64_t tried = 0;
  const auto far_apart = [&](std::uint32_t rank) {
    if (++tried > 1'000'000) FAIL("a million ranks were tried");
    return rank % 65'000 == 0;
  };
  CHECK(ranks_to_probe(unlistable, many, far_apart).size() == 5);
}
