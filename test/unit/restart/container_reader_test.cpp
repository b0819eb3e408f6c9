// SPDX-License-Identifier: BSD-3-Clause
#include "restart/container/container_reader.hpp"

#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>
#include <limits>

#include "codecs/base/checksum.hpp"
#include "restart/base/system.hpp"
#include "test/support/catch.hpp"
#include "test/unit/restart/made_container.hpp"
#include "test/unit/restart/one_part_container.hpp"
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

TEST_CASE(
    "a time that no clock tells counts as the oldest one, unless the container lies where it was "
    "written") {
  constexpr std::uint64_t end = std::uint64_t{1} << 63;
  const ScratchDirectory directory;
  SetIdentity set;
  set.created_ns = 1;
  bool is_marked = false;
  const auto opened = [&] {
    const auto file = File::open(AT_FDCWD, directory / "container", O_RDWR | O_CREAT | O_TRUNC);
    REQUIRE(file);
    REQUIRE(file->write_at(0, one_part_container(set, *PartId::random(), 0, "a", "bytes")));
    if (is_marked) REQUIRE(mark_own_file(*file, 0));
    const auto reader = ContainerReader::open(AT_FDCWD, directory / "container");
    REQUIRE(reader);
    return *reader;
  };
  for (const std::uint64_t time : {std::uint64_t{7}, end - 1}) {
    set.begun_ns = time;
    CHECK(opened()->set().order() == time);
  }
  set.begun_ns = std::numeric_limits<std::uint64_t>::max();
  CHECK(opened()->set().order() == 1);
  set.begun_ns = 7;
  set.order_ns = end;
  set.bundled.push_back({"/out/a.h5", 0, 7, end});
  const auto copy = opened();
  CHECK(copy->set().order() == 1);
  CHECK(set_of_part(copy->set(), 0).order() == 1);
  is_marked = true;
  const auto original = opened();
  if (original->origin().born_ns == 0) return;  // the file system records no birth times
  CHECK(original->set().order() == end);
  CHECK(set_of_part(original->set(), 0).order() == end);
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

/// Makes the container claim a part table of `bytes` bytes for `count` parts. The file gets the
/// length for it, but the table is a hole. Returns where the table begins in the file.
std::uint64_t claim_part_table(const MadeContainer& made, std::uint64_t bytes,
                               std::uint64_t count) {
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
  before.varint(parts.count);
  after.varint(block.index_bytes);
  after.varint(bytes);
  after.varint(count);
  const auto place = std::search(directory.begin(), directory.end(), now.begin(), now.end());
  REQUIRE(place != directory.end());
  directory.insert(directory.erase(place, place + static_cast<std::ptrdiff_t>(now.size())),
                   claimed.begin(), claimed.end());
  // Cut to the old length: the directory ended in reserved zeros.
  directory.resize(static_cast<std::size_t>(block.directory_bytes));
  REQUIRE(file->write_at(block.index_offset, directory));
  const std::uint64_t begin = block.index_offset + block.index_bytes;
  block.index_bytes += bytes;
  block.directory_checksum = checksum(directory);
  REQUIRE(file->write_at(0, write_user_block(block)));
  REQUIRE(file->truncate(block.index_offset + block.index_bytes));
  return begin;
}

/// Returns the most memory that this process has had, in bytes.
std::uint64_t peak_memory() {
  struct rusage usage {};
  REQUIRE(::getrusage(RUSAGE_SELF, &usage) == 0);
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

/// Reads the part table, which must be refused with these words and without memory for the table.
void expect_refused(const MadeContainer& made, const std::string& words) {
  const std::uint64_t before = peak_memory();
  const auto reader = ContainerReader::open(AT_FDCWD, made.path);
  const auto parts =
      reader ? (*reader)->parts() : Result<const std::vector<PartRecord>*>(reader.error());
  REQUIRE_FALSE(parts);
  CHECK(parts.error().cause == Cause::damaged);
  CHECK(parts.error().message.find(words) != std::string::npos);
  CHECK(peak_memory() - before < 16U << 20);
}

TEST_CASE("a table of any size that a sparse file claims to have costs no memory") {
  const ScratchDirectory directory;
  const MadeContainer made(directory / "container");
  constexpr std::uint64_t claimed_bytes = 1ULL << 40;  // more than any machine of ours has
  claim_part_table(made, claimed_bytes, claimed_bytes / 1000);
  expect_refused(made, "nothing in it");
}

TEST_CASE("a table with a byte here and there, in a file that is nearly sparse, costs no memory") {
  const ScratchDirectory directory;
  const MadeContainer made(directory / "container");
  constexpr std::uint64_t claimed_bytes = 256U << 20;
  const std::uint64_t begin = claim_part_table(made, claimed_bytes, claimed_bytes / 1000);
  const auto file = File::open(AT_FDCWD, made.path, O_RDWR);
  REQUIRE(file);
  for (std::uint64_t at = 0; at < claimed_bytes; at += 1U << 19)
    REQUIRE(file->write_at(begin + at, as_bytes("x")));
  expect_refused(made, "nothing in it");
}

TEST_CASE("a large table costs no memory before it has matched its checksum") {
  const ScratchDirectory directory;
  const MadeContainer made(directory / "container");
  constexpr std::uint64_t claimed_bytes = 64U << 20;
  const std::uint64_t begin = claim_part_table(made, claimed_bytes, claimed_bytes / 1000);
  const auto file = File::open(AT_FDCWD, made.path, O_RDWR);
  REQUIRE(file);
  const Bytes piece(1U << 20, std::byte{7});
  for (std::uint64_t at = 0; at < claimed_bytes; at += piece.size())
    REQUIRE(file->write_at(begin + at, piece));
  expect_refused(made, "does not match its checksum");
}

TEST_CASE("a table is as large as its parts allow") {
  const ScratchDirectory directory;
  const MadeContainer made(directory / "container");
  claim_part_table(made, 1U << 20, 2);
  expect_refused(made, "bytes for 2 parts");
  const MadeContainer other(directory / "other");
  claim_part_table(other, 1U << 20, 1U << 19);
  expect_refused(other, "bytes for 524288 parts");
}

}  // namespace
}  // namespace mcr::restart
