// SPDX-License-Identifier: BSD-3-Clause
#include "restart/format/index.hpp"

#include <algorithm>
#include <utility>

#include "codecs/base/checksum.hpp"
#include "test/support/catch.hpp"

namespace mcr::restart {
namespace {

Index sample_index(std::size_t datasets, std::size_t fragments) {
  Index index;
  index.set.masked_name = "/scratch/run/rank{rank}.h5";
  index.set.launch = "launch";
  index.set.sequence = 7;
  index.set.rank_count = 4;
  index.set.passed_ranks = {2, 3};
  index.set.scheme = "aware";
  index.set.profile = "balanced";
  index.set.writer = "mcr test";
  index.set.created_ns = 1'700'000'000'000'000'000;
  index.set.begun_ns = index.set.created_ns - 5;
  index.set.order_ns = index.set.created_ns + 5;
  for (std::uint32_t i = 0; i < datasets; ++i) {
    DatasetEntry entry;
    entry.name = "group/variable" + std::to_string(i);
    entry.chunk_bytes = 4096;
    entry.element_bytes = 8;
    entry.raw_bytes = 6000;
    entry.first_frame = index.frames.size();
    entry.frame_count = 2;
    index.datasets.push_back(entry);
    index.frames.push_back({1000 + i * 5000ULL, 300, 4096, i});
    index.frames.push_back({2000 + i * 5000ULL, 200, 1904, i + 1});
  }
  index.datasets.push_back({"skeletons", DatasetKind::skeletons, DatasetStorage::frames, 1,
                            1U << 20, 100'000, index.frames.size(), 1});
  index.frames.push_back({512, 90, 100'000, 5});
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    PartEntry part;
    part.part.bytes[0] = static_cast<std::uint8_t>(rank);
    part.rank = rank;
    part.path = "rank" + std::to_string(rank) + ".h5";
    part.checksum = 12345 + rank;
    part.mode = 0640;
    part.skeleton = {rank * 1000, 0, rank == 0 ? SkeletonPlace::no_base : 0};
    for (std::uint32_t i = 0; i < fragments; ++i) {
      part.map.push_back({17, MapEntry::skeleton, 0, 0, part.skeleton.bytes});
      part.skeleton.bytes += 17;
      const auto dataset = static_cast<std::uint32_t>(i % datasets);
      part.map.push_back({100 + i, dataset, i % 2, i * 3, 0});
    }
    for (const MapEntry& entry : part.map) part.size += entry.length;
    index.parts.push_back(part);
  }
  return index;
}

ByteSpan at(ByteSpan index, const TablePlace& place) {
  return index.subspan(static_cast<std::size_t>(place.offset),
                       static_cast<std::size_t>(place.bytes));
}

TEST_CASE(
    "a set without an order time is ordered by its begin time, or else by its creation time") {
  SetIdentity set;
  set.created_ns = 3;
  CHECK(set.order() == 3);
  set.begun_ns = 2;
  CHECK(set.order() == 2);
  set.order_ns = 7;
  CHECK(set.order() == 7);
}

/// The set in the directory of the index that is written for `index`.
SetIdentity read_back(const Index& index) {
  const IndexBytes written = write_index(index);
  const auto directory = read_index_directory(
      ByteSpan(written.bytes).first(written.directory_bytes), written.bytes.size());
  REQUIRE(directory);
  return directory->set;
}

TEST_CASE("the steps of container_dir= upwards are read back, beside the mark of a drifted set") {
  Index index = sample_index(1, 1);
  index.set.steps_up = GENERATE(std::optional<std::uint32_t>(), 0U, 1U, 300U);
  index.set.drifted = GENERATE(false, true);
  const SetIdentity set = read_back(index);
  CHECK(set.steps_up == index.set.steps_up);
  CHECK(set.drifted == index.set.drifted);
}

TEST_CASE("the numbers of failed attempts are read back, also those of a bundle") {
  Index index = sample_index(1, 1);
  index.set.failed_attempts =
      GENERATE(std::optional<FailedAttempts>(), FailedAttempts{0, 0}, FailedAttempts{1, 300});
  if (GENERATE(false, true)) index.set.bundled.assign(index.parts.size(), {"a", 1, 2, 3});
  const SetIdentity set = read_back(index);
  CHECK(set.failed_attempts == index.set.failed_attempts);
  CHECK(set.bundled == index.set.bundled);
}

TEST_CASE(
    "the launch that wrote into a set of an earlier one is read back, and the set then tells no "
    "failed attempts") {
  Index index = sample_index(1, 1);
  index.set.amended_by = "job-18";
  if (GENERATE(false, true)) index.set.bundled.assign(index.parts.size(), {"a", 1, 2, 3});
  const SetIdentity set = read_back(index);
  CHECK(set.amended_by == "job-18");
  CHECK(set.bundled == index.set.bundled);
  CHECK_FALSE(set.failed_attempts);
}

TEST_CASE("an index is read back as it was written, piece by piece") {
  const Index index = sample_index(150, 1200);  // several pages of each table
  const IndexBytes written = write_index(index);
  const ByteSpan bytes(written.bytes);
  REQUIRE(checksum(bytes.first(written.directory_bytes)) == written.directory_checksum);
  const auto directory = read_index_directory(bytes.first(written.directory_bytes), bytes.size());
  REQUIRE(directory);
  CHECK(directory->set.masked_name == index.set.masked_name);
  CHECK(directory->set.passed_ranks == index.set.passed_ranks);
  CHECK(directory->set.created_ns == index.set.created_ns);
  CHECK(directory->set.begun_ns == index.set.begun_ns);
  CHECK(directory->set.order() == index.set.order_ns);
  CHECK(directory->skeleton_dataset == 150);

  const ByteSpan datasets = at(bytes, directory->datasets);
  for (std::size_t i = 0; i < index.datasets.size(); ++i) {
    const std::uint64_t page = i / dataset_pages.records_per_page;
    const auto records = dataset_pages.open(
        datasets.subspan(dataset_pages.page_offset(page),
                         dataset_pages.page_bytes(directory->datasets.count, page)),
        page);
    REQUIRE(records);
    const auto record = read_dataset_record(
        records->subspan(i % dataset_pages.records_per_page * DatasetEntry::record_bytes,
                         DatasetEntry::record_bytes),
        *directory);
    REQUIRE(record);
    DatasetEntry entry = record->entry;
    const auto name = read_dataset_name(
        at(bytes, directory->names).subspan(record->name_offset, record->name_bytes), *record);
    REQUIRE(name);
    entry.name = *name;
    REQUIRE(entry == index.datasets[i]);
  }

  const auto parts = read_part_table(at(bytes, directory->parts), directory->parts, bytes.size());
  REQUIRE(parts);
  REQUIRE(parts->size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    const PartRecord& part = (*parts)[i];
    CHECK(part.entry.path == index.parts[i].path);
    CHECK(part.entry.skeleton == index.parts[i].skeleton);
    const auto pages = read_page_table(at(bytes, part.page_table), part, bytes.size());
    REQUIRE(pages);
    REQUIRE(pages->size() == 5);
    std::vector<MapEntry> map;
    for (std::size_t page = 0; page < pages->size(); ++page) {
      const std::uint64_t end =
          page + 1 < pages->size() ? (*pages)[page + 1].first_part_offset : part.entry.size;
      const auto entries = read_map_page(at(bytes, (*pages)[page].place), (*pages)[page],
                                         end - (*pages)[page].first_part_offset,
                                         part.entry.skeleton.bytes, index.datasets.size());
      REQUIRE(entries);
      map.insert(map.end(), entries->begin(), entries->end());
    }
    CHECK(map == index.parts[i].map);
  }
}

TEST_CASE(
    "a list of ranks has at most as many entries as the set has ranks, and only ranks of the set") {
  const auto read = [](const Index& index) {
    const IndexBytes written = write_index(index);
    return read_index_directory(ByteSpan(written.bytes).first(written.directory_bytes),
                                written.bytes.size());
  };
  Index index = sample_index(1, 1);  // of four ranks
  index.set.passed_ranks = {3, 4};
  index.set.failed_ranks = {0, 1, 4'000'000'000, 2};
  const auto directory = read(index);
  REQUIRE(directory);
  CHECK(directory->set.passed_ranks == std::vector<std::uint32_t>{3});
  CHECK(directory->set.failed_ranks == std::vector<std::uint32_t>{0, 1, 2});
  for (auto* list : {&index.set.passed_ranks, &index.set.failed_ranks}) {
    const std::vector<std::uint32_t> kept = std::exchange(*list, {0, 0, 0, 0, 0});
    CHECK_FALSE(read(index));
    *list = kept;
  }
  CHECK(read(index));
}

TEST_CASE("a user block is read back, and every changed byte in it is noticed") {
  UserBlock block;
  block.uuid[3] = 9;
  block.index_offset = 4096;
  block.index_bytes = 1000;
  block.directory_bytes = 100;
  block.directory_checksum = 77;
  const Bytes written = write_user_block(block);
  REQUIRE(written.size() == UserBlock::bytes);
  const auto read = read_user_block(written);
  REQUIRE(read);
  CHECK(read->index_offset == 4096);
  CHECK(read->directory_checksum == 77);
  for (std::size_t place = 0; place < 76; ++place) {
    Bytes bad = written;
    bad[place] ^= std::byte{0x10};
    CHECK_FALSE(read_user_block(bad));
  }
  for (std::size_t length = 0; length < 76; ++length) {
    CHECK_FALSE(read_user_block(ByteSpan(written).first(length)));
  }
}

TEST_CASE("a file's mark is read back beside the user block; a damaged one, or none, is no mark") {
  Bytes head = write_user_block({});
  CHECK(read_file_mark(head) == FileMark{});
  const FileMark mark{77, 1'700'000'000'000'000'001, 78, 1'700'000'000'000'000'000};
  const Bytes written = write_file_mark(mark);
  std::copy(written.begin(), written.end(), head.begin() + FileMark::offset);
  CHECK(read_file_mark(head) == mark);
  CHECK(read_user_block(head));
  for (std::size_t i = 0; i < written.size(); ++i) {
    Bytes bad = head;
    bad[FileMark::offset + i] ^= std::byte{0x10};
    CHECK(read_file_mark(bad) == FileMark{});
  }
  CHECK(read_file_mark(ByteSpan(head).first(FileMark::offset + written.size() - 1)) == FileMark{});
}

TEST_CASE("a container of a newer version is unsupported, not damaged") {
  Bytes written = write_user_block({});
  written[16] = std::byte{3};  // the version; the checksum is set to match
  const std::uint64_t sum = checksum(ByteSpan(written).first(68));
  Bytes stored;
  Writer(stored).u64(sum);
  std::copy(stored.begin(), stored.end(), written.begin() + 68);
  const auto read = read_user_block(written);
  REQUIRE_FALSE(read);
  CHECK(read.error().cause == Cause::unsupported);
  CHECK(read.error().message.find("version 3") != std::string::npos);
}

TEST_CASE("a page of records is not taken for another page, or a page of another table") {
  const IndexBytes written = write_index(sample_index(150, 1));
  const auto directory = read_index_directory(
      ByteSpan(written.bytes).first(written.directory_bytes), written.bytes.size());
  REQUIRE(directory);
  const ByteSpan datasets = at(written.bytes, directory->datasets);
  const ByteSpan first = datasets.first(dataset_pages.page_bytes(directory->datasets.count, 0));
  CHECK(dataset_pages.open(first, 0));
  CHECK_FALSE(dataset_pages.open(first, 1));
  CHECK_FALSE(frame_pages.open(first, 0));
  CHECK_FALSE(dataset_pages.open(first.first(first.size() - 1), 0));
  CHECK_FALSE(dataset_pages.open({}, 0));
}

TEST_CASE("a map page must cover its range of the part exactly") {
  Bytes bytes;
  Writer out(bytes);
  out.varint(0);
  out.varint(200 * 4 + 1);
  out.varint(400 * 4);
  out.varint(10);
  out.varint(6);
  out.varint(0);
  out.varint(400 * 4 + 1);
  MapPage page;
  page.place = {0, bytes.size(), 3, checksum(bytes)};
  const auto entries = read_map_page(bytes, page, 1000, 600, 6);
  REQUIRE(entries);  // the example of docs/format.md
  CHECK((*entries)[1] == MapEntry{400, 5, 3, 0, 0});
  CHECK((*entries)[2].skeleton_position == 200);
  CHECK_FALSE(read_map_page(bytes, page, 999, 600, 6));
  CHECK_FALSE(read_map_page(bytes, page, 1001, 600, 6));
  CHECK_FALSE(read_map_page(bytes, page, 1000, 599, 6));
  CHECK_FALSE(read_map_page(bytes, page, 1000, 600, 5));
  page.place.count = 2;
  CHECK_FALSE(read_map_page(bytes, page, 1000, 600, 6));
}

TEST_CASE("a skeleton's base must be another part, and must have no base itself") {
  for (const std::uint32_t base : {1U, 2U, 7U}) {
    Index index = sample_index(3, 3);
    index.parts[1].skeleton.base = base;
    const IndexBytes written = write_index(index);
    const auto directory = read_index_directory(
        ByteSpan(written.bytes).first(written.directory_bytes), written.bytes.size());
    REQUIRE(directory);
    CHECK_FALSE(read_part_table(at(written.bytes, directory->parts), directory->parts,
                                written.bytes.size()));
  }
}

}  // namespace
TEST_CASE("a bundle names the set of each part, and must have as many sets as parts") {
  Index index = sample_index(3, 2);
  index.set.bundled.clear();
  for (std::size_t i = 0; i < index.parts.size(); ++i)
    index.set.bundled.push_back({"/out/f" + std::to_string(i) + ".h5", i, 100 + i, 200 + i});
  IndexBytes written = write_index(index);
  auto directory = read_index_directory(ByteSpan(written.bytes).first(written.directory_bytes),
                                        written.bytes.size());
  REQUIRE(directory);
  CHECK(directory->set.bundled == index.set.bundled);
  const SetIdentity second = set_of_part(directory->set, 1);
  CHECK(second.masked_name == "/out/f1.h5");
  CHECK(second.sequence == 1);
  CHECK(second.order() == 201);
  CHECK(second.launch == index.set.launch);
  CHECK(second.rank_count == 1);
  CHECK(second.bundled.empty());

  index.set.bundled.pop_back();
  written = write_index(index);
  directory = read_index_directory(ByteSpan(written.bytes).first(written.directory_bytes),
                                   written.bytes.size());
  REQUIRE_FALSE(directory);
  CHECK(directory.error().cause == Cause::damaged);
}

TEST_CASE("the user block of a bundle has a version of its own") {
  UserBlock block;
  block.version = bundle_version;
  const auto read = read_user_block(write_user_block(block));
  REQUIRE(read);
  CHECK(read->version == 2);
}

}  // namespace mcr::restart
