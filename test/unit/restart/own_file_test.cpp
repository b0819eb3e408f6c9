// SPDX-License-Identifier: BSD-3-Clause
// Copies of containers are told from the files that mcr wrote, and from copies that came with a moved directory.
#include "restart/container/own_file.hpp"

#include <fcntl.h>

#include <filesystem>
#include <string>

#include "restart/base/birth_time.hpp"
#include "restart/container/late_copies.hpp"
#include "test/support/catch.hpp"
#include "test/unit/restart/scratch_directory.hpp"

using namespace mcr;
using namespace mcr::restart;

namespace {

constexpr const char* name = "set-a.{rank}.h5.x-0.r0-0.h5";

/// Makes a file with a user block and, unless it is an old one, the mark.
void make(const std::string& path, bool with_mark = true, std::uint64_t since_ns = 0) {
  const auto file = File::open(AT_FDCWD, path, O_RDWR | O_CREAT | O_EXCL);
  REQUIRE(file);
  REQUIRE(file->write_at(0, write_user_block({})));
  if (with_mark) REQUIRE(mark_own_file(*file, since_ns));
}

FileOrigin origin(const std::string& path) {
  const auto file = File::open(AT_FDCWD, path, O_RDONLY);
  REQUIRE(file);
  Bytes head(UserBlock::bytes);
  REQUIRE(file->read_at(0, head));
  return origin_of(head, *file, *file->status());
}

bool has_birth_times(const std::string& directory) {
  const auto file = File::open(AT_FDCWD, directory, O_RDONLY | O_DIRECTORY);
  if (file && birth_time_of(*file) != 0) return true;
  WARN("the file system records no birth times, so nothing is tested here");
  return false;
}

}  // namespace

TEST_CASE(
    "a container is no copy, under whatever name; a copy of it is one, and so is a container "
    "without a mark") {
  const ScratchDirectory scratch;
  if (!has_birth_times(scratch.path())) return;
  const std::string own = scratch.path() + "/own";
  make(own);
  CHECK_FALSE(origin(own).is_copy);
  CHECK(origin(own).since_ns == origin(own).born_ns);
  std::filesystem::rename(own, own + "2");
  CHECK_FALSE(origin(own + "2").is_copy);
  std::filesystem::copy_file(own + "2", own);
  CHECK(origin(own).is_copy);
  CHECK(origin(own).since_ns == 0);
  make(scratch.path() + "/old", false);
  CHECK(origin(scratch.path() + "/old").is_copy);
}

TEST_CASE(
    "a container tells since when mcr has written into the directory, and no time after its own "
    "birth") {
  const ScratchDirectory scratch;
  if (!has_birth_times(scratch.path())) return;
  const auto directory = File::open(AT_FDCWD, scratch.path(), O_RDONLY | O_DIRECTORY);
  CHECK(written_since(*directory) == 0);
  make(scratch.path() + "/" + name, true, 77);
  CHECK(written_since(*directory) == 77);
  make(scratch.path() + "/late", true, UINT64_MAX);
  CHECK(origin(scratch.path() + "/late").since_ns == origin(scratch.path() + "/late").born_ns);
}

TEST_CASE("copies are late ones if they are younger than mcr's first container in the directory") {
  LateCopies copies;
  const FileOrigin before{true, 10, 0};
  const FileOrigin at{true, 20, 0};
  const FileOrigin after{true, 30, 0};
  CHECK_FALSE(copies.is_late(after));  // nothing is known of the directory
  copies.add({false, 40, 25}, 0);
  copies.add({false, 50, 20}, 0);
  copies.add(before, 1000);
  CHECK_FALSE(copies.is_late(before));
  CHECK_FALSE(copies.is_late(at));
  CHECK(copies.is_late(after));
  CHECK_FALSE(copies.is_late({false, 30, 30}));
}

TEST_CASE(
    "a late copy tells no time after that at which it was made, or that of a set that was there") {
  LateCopies copies;
  CHECK(copies.latest_ns({true, 30, 0}) == 0);
  copies.add({false, 20, 20}, 15);
  copies.add({false, 40, 20}, 500);  // by a clock that was ahead
  copies.add({false, 60, 20}, 55);
  CHECK(copies.latest_ns({true, 10, 0}) == 0);
  CHECK(copies.latest_ns({true, 30, 0}) == 30);
  CHECK(copies.latest_ns({true, 50, 0}) == 500);
  CHECK(copies.latest_ns({true, 600, 0}) == 600);
  CHECK(copies.latest_ns({false, 600, 20}) == 0);
}
