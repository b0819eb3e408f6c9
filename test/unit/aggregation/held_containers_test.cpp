// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/held_containers.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "test/support/catch.hpp"
#include "test/unit/restart/scratch_directory.hpp"

using namespace mcr;
using namespace mcr::aggregation;

namespace fs = std::filesystem;

namespace {

constexpr uid_t neighbour = 64102;

void put(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

std::string read(const Result<restart::File>& file) {
  if (!file) return "error " + std::to_string(file.error().system_error);
  const Bytes bytes = *file->read_all(100);
  return std::string(as_text(bytes));
}

Result<HeldContainers> hold(const std::string& path,
                            LinksToContainers links = LinksToContainers::trusted) {
  return HeldContainers::open(path, links);
}

/// Two directories of containers, each with a file "a".
struct Places {
  restart::ScratchDirectory scratch;
  std::string mcr = scratch / "run/mcr";
  std::string other = scratch / "other/mcr";

  Places() {
    fs::create_directories(mcr);
    fs::create_directories(other);
    put(mcr + "/a", "run");
    put(other + "/a", "other");
  }
};

}  // namespace

TEST_CASE("a held directory stays the same when a link takes its place") {
  const Places at;
  const auto held = hold(at.mcr);
  REQUIRE(held);
  fs::rename(at.scratch / "run", at.scratch / "away");
  fs::create_directory_symlink(at.scratch / "other", at.scratch / "run");
  CHECK(read(held->open_file(at.mcr + "/a")) == "run");
  // The place that was read is not found any more, although the path leads to a directory of containers.
  CHECK(held->place()->hold().error().system_error == EPERM);
  CHECK(held->place()->open_base(O_PATH | O_DIRECTORY).error().system_error == EPERM);
  fs::remove(at.scratch / "run");
  fs::rename(at.scratch / "away", at.scratch / "run");
  CHECK(read(held->place()->hold()->open_file(at.mcr + "/a")) == "run");
  CHECK(held->place()->open_base(O_PATH | O_DIRECTORY));
}

TEST_CASE("a place is not found where its directory was moved to another base") {
  const Places at;
  const auto held = hold(at.mcr);
  fs::rename(at.other, at.scratch / "other/old");
  fs::rename(at.mcr, at.other);
  fs::rename(at.scratch / "run", at.scratch / "away");
  fs::rename(at.scratch / "other", at.scratch / "run");
  CHECK(held->place()->hold().error().system_error == EPERM);
  CHECK(held->place()->open_base(O_PATH | O_DIRECTORY).error().system_error == EPERM);
}

TEST_CASE(
    "the directory above is found by the path, or by .. if the path does not name the directory") {
  const Places at;
  CHECK(hold(at.mcr)->place()->base == at.scratch / "run");
  CHECK(hold(at.mcr)->place()->name == "mcr");
  for (const std::string& path : {at.mcr + "/.", at.mcr + "/", at.scratch / "run/mcr/../mcr/."}) {
    const auto held = hold(path);
    REQUIRE(held);
    CHECK(held->beside().directories() == hold(at.mcr)->beside().directories());
    CHECK(held->place()->name == "mcr");
    CHECK(held->place()->hold());
    CHECK(held->place()->open_base(O_PATH | O_DIRECTORY));
  }
}

TEST_CASE(
    "links to directories of containers and to containers are followed only if nobody else can "
    "have put "
    "them there") {
  const Places at;
  const std::string link = at.scratch / "run/linked";
  fs::create_directory_symlink("../other/mcr", link);
  fs::create_symlink("../../other/mcr/a", at.mcr + "/b");
  CHECK(read(hold(link)->open_file("a")) == "other");
  CHECK(read(hold(at.mcr)->open_file("b")) == "other");
  CHECK(hold(link)->beside().outer_identity() == hold(at.mcr)->beside().outer_identity());
  if (::geteuid() != 0) return;  // only root can give links away
  REQUIRE(::lchown(link.c_str(), neighbour, neighbour) == 0);
  REQUIRE(::lchown((at.mcr + "/b").c_str(), neighbour, neighbour) == 0);
  CHECK(hold(link).error().system_error == EPERM);
  CHECK(hold(at.mcr)->open_file("b").error().system_error == EPERM);
  // If the user has named the link, the directory in which the link's target lies counts.
  const auto named = hold(link, LinksToContainers::any);
  CHECK(named->beside().directories() == hold(at.other)->beside().directories());
  CHECK(named->place()->base == link + "/..");
}
