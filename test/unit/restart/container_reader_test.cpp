// SPDX-License-Identifier: BSD-3-Clause
#include "restart/container_reader.hpp"

#include <fcntl.h>

#include "restart/base/system.hpp"
#include "test/support/catch.hpp"
#include "test/unit/restart/made_container.hpp"
#include "test/unit/restart/scratch_directory.hpp"

namespace mcr::restart {
namespace {

TEST_CASE("a container tells its set, parts and datasets") {
  const ScratchDirectory directory;
  const MadeContainer made(directory / "container");
  const auto reader = made.open();
  CHECK(reader->set().launch == "made");
  const auto parts = reader->parts();
  REQUIRE(parts);
  REQUIRE((*parts)->size() == 2);
  CHECK((**parts)[1].entry.rank == 1);
  const auto datasets = reader->datasets();
  REQUIRE(datasets);
  REQUIRE((*datasets)->size() == 3);
  CHECK((**datasets)[1].name == "b");
  CHECK(reader->dataset_name(0) == "a");
  CHECK_FALSE(reader->dataset(3));
  CHECK(reader->dataset_name(3) == "dataset 3");
}

TEST_CASE(
    "a frame is decoded; one that is not there, or is damaged, is an error with the container's "
    "name") {
  const ScratchDirectory directory;
  const MadeContainer made(directory / "container");
  const auto reader = made.open();
  const auto dataset = reader->dataset(0);
  REQUIRE(dataset);
  REQUIRE(dataset->frame_count == 10);
  const auto place = reader->frame_place(*dataset, 9);
  REQUIRE(place);
  Scratch scratch;
  Bytes raw(place->raw_bytes);
  CHECK(reader->decode(*dataset, *place, scratch, raw));
  CHECK_FALSE(reader->frame_place(*dataset, 10));
  Bytes too_long(place->raw_bytes + 1);
  CHECK_FALSE(reader->decode(*dataset, *place, scratch, too_long));

  made.flip(place->file_offset + 20);
  const auto damaged = reader->decode(*dataset, *place, scratch, raw);
  REQUIRE_FALSE(damaged);
  CHECK(damaged.error().cause == Cause::damaged);
  CHECK(damaged.error().message.find(made.path) == 0);
}

TEST_CASE("what is no container, or ends too early, is refused with its name") {
  const ScratchDirectory directory;
  const auto other = File::open(AT_FDCWD, directory / "other", O_RDWR | O_CREAT);
  REQUIRE(other);
  REQUIRE(other->write_at(0, as_bytes("something else")));
  for (const char* name : {"other", "missing"}) {
    const auto opened = ContainerReader::open(AT_FDCWD, directory / name);
    REQUIRE_FALSE(opened);
    CHECK(opened.error().message.find(name) != std::string::npos);
  }
  const MadeContainer made(directory / "container");
  const auto file = File::open(AT_FDCWD, made.path, O_RDWR);
  REQUIRE(file);
  REQUIRE(file->truncate(*file->size() - 1));
  CHECK_FALSE(ContainerReader::open(AT_FDCWD, made.path));
}

}  // namespace
}  // namespace mcr::restart
