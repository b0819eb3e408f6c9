// SPDX-License-Identifier: BSD-3-Clause
#include "restart/container/container_reader.hpp"

#include <fcntl.h>

#include <algorithm>

#include "codecs/base/checksum.hpp"
#include "restart/base/system.hpp"
#include "test/support/catch.hpp"
#include "test/unit/restart/made_container.hpp"
#include "test/unit/restart/scratch_directory.hpp"

namespace mcr::restart {
namespace {

TEST_CASE("a container lists its set, parts and datasets") {
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

TEST_CASE("a frame is decoded; a missing or damaged frame is an error with the container's name") {
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

TEST_CASE("a file that is no container, or ends too early, is refused with its name") {
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

/// Makes the container claim a part table of `bytes` bytes. The file gets the length for it, but
/// the table is a hole.
void claim_part_table(const MadeContainer& made, std::uint64_t bytes) {
  const auto file = File::open(AT_FDCWD, made.path, O_RDWR);
  REQUIRE(file);
  Bytes head(UserBlock::bytes);
  REQUIRE(file->read_at(0, head));
  UserBlock block = *read_user_block(head);
  Bytes directory(static_cast<std::size_t>(block.directory_bytes));
  REQUIRE(file->read_at(block.index_offset, directory));
  const TablePlace parts = read_index_directory(directory, block.index_bytes)->parts;
  Bytes now;
  Bytes claimed;
  Writer before(now);
  Writer after(claimed);
  before.varint(parts.offset);
  before.varint(parts.bytes);
  after.varint(block.index_bytes);
  after.varint(bytes);
  const auto place = std::search(directory.begin(), directory.end(), now.begin(), now.end());
  REQUIRE(place != directory.end());
  directory.insert(directory.erase(place, place + static_cast<std::ptrdiff_t>(now.size())),
                   claimed.begin(), claimed.end());
  // Cut to the old length: the directory ended in reserved zeros.
  directory.resize(static_cast<std::size_t>(block.directory_bytes));
  REQUIRE(file->write_at(block.index_offset, directory));
  block.index_bytes += bytes;
  block.directory_checksum = checksum(directory);
  REQUIRE(file->write_at(0, write_user_block(block)));
  REQUIRE(file->truncate(block.index_offset + block.index_bytes));
}

TEST_CASE("a table of any size that a sparse file claims to have costs no memory") {
  const ScratchDirectory directory;
  const MadeContainer made(directory / "container");
  constexpr std::uint64_t claimed_bytes = 1ULL << 40;  // more than any machine of ours has
  claim_part_table(made, claimed_bytes);
  const auto reader = made.open();
  const auto parts = reader->parts();
  REQUIRE_FALSE(parts);
  CHECK(parts.error().cause == Cause::damaged);
  CHECK(parts.error().message.find("nothing in it") != std::string::npos);
}

}  // namespace
}  // namespace mcr::restart
