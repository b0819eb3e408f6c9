// SPDX-License-Identifier: BSD-3-Clause
#include "restart/format/journal.hpp"

#include "restart/format/record.hpp"
#include "test/support/catch.hpp"

using namespace mcr;
using namespace mcr::restart;

namespace {

PartBegin example() {
  PartBegin begin;
  begin.part = *PartId::parse("00112233445566778899aabbccddeeff");
  begin.path_as_passed = "out/r3.h5";
  begin.path = "/w/out/r3.h5";
  begin.directory_device = 2049;
  begin.directory_inode = 1234567890123;
  begin.file_inode = 77;
  begin.failed_attempts = 2;
  begin.is_by_untrusted_links = true;
  begin.above = {{2049, 5}, {66305, 1234567890123}};
  begin.amended_by = "L2";
  begin.rank = 3;
  begin.rank_count = 8;
  begin.local_rank_count = 4;
  begin.node = "n1";
  begin.launch = "L";
  begin.sequence = 12;
  begin.masked_names = {"/w/out/r{rank}.h5"};
  begin.presence = "3.0011223344556677";
  begin.replaced = Replaced::stub;
  begin.replaced_part = PartId::parse("ffeeddccbbaa99887766554433221100");
  begin.mode = 0640;
  begin.begin_ns = 1700000000123456789;
  begin.settings = "profile=fast;keep=2";
  return begin;
}

Bytes joined(std::initializer_list<Bytes> pieces) {
  Bytes all;
  for (const Bytes& piece : pieces) all.insert(all.end(), piece.begin(), piece.end());
  return all;
}

}  // namespace

TEST_CASE("a journal says which older file the path still shows") {
  PartPublish record{4096, 5, false, true, {}, PartPublish::OlderFile{7, 8, 9}};
  const auto journal = read_journal(joined({write_begin(example()), write_publish(record)}));
  REQUIRE(journal);
  CHECK(journal->publish->shows_older == record.shows_older);
  CHECK_FALSE(journal->publish->stub_is_placed);
  record.stub_is_placed = true;
  const auto placed = read_journal(joined({write_begin(example()), write_publish(record)}));
  REQUIRE(placed);
  CHECK(placed->publish->stub_is_placed);
  CHECK(journal->publish->durable);
}

TEST_CASE("a journal is read back as it was written") {
  const auto read = read_journal(
      joined({write_begin(example()), write_publish({4096, 5, true, false, {}, {}}),
              write_publish({8192, 6, false, true, PartPublish::NativeFile{7, 8}, {}})}));
  REQUIRE(read);
  const PartBegin& begin = read->begin;
  CHECK(begin.part == example().part);
  CHECK(begin.path_as_passed == "out/r3.h5");
  CHECK(begin.path == "/w/out/r3.h5");
  CHECK(begin.directory_device == 2049);
  CHECK(begin.directory_inode == 1234567890123);
  CHECK(begin.file_inode == 77);
  CHECK(begin.failed_attempts == 2U);
  CHECK(begin.is_by_untrusted_links);
  CHECK(begin.above == std::vector<FileIdentity>{{2049, 5}, {66305, 1234567890123}});
  CHECK(begin.amended_by == "L2");
  CHECK(begin.rank == 3);
  CHECK(begin.rank_count == 8);
  CHECK(begin.local_rank_count == 4);
  CHECK(begin.node == "n1");
  CHECK(begin.launch == "L");
  CHECK(begin.sequence == 12);
  CHECK(begin.masked_names == example().masked_names);
  CHECK(begin.presence == "3.0011223344556677");
  CHECK(begin.replaced == Replaced::stub);
  CHECK(begin.replaced_part == example().replaced_part);
  CHECK(begin.mode == 0640);
  CHECK(begin.begin_ns == 1700000000123456789);
  CHECK(begin.settings == "profile=fast;keep=2");
  REQUIRE(read->publish);
  CHECK(read->publish->size == 8192);
  CHECK(read->publish->publish_ns == 6);
  CHECK_FALSE(read->publish->provisional);
  CHECK(read->publish->durable);
  REQUIRE(read->publish->native);
  CHECK(read->publish->native->device == 7);
  CHECK(read->publish->native->inode == 8);
}

TEST_CASE("a begun part has no publish record") {
  const auto read = read_journal(write_begin(example()));
  REQUIRE(read);
  CHECK_FALSE(read->publish);
}

TEST_CASE("a torn last record is ignored, at whatever length it is torn") {
  const Bytes begin = write_begin(example());
  const Bytes first = write_publish({1, 1, true, false, {}, {}});
  const Bytes second = write_publish({2, 2, false, false, {}, {}});
  const Bytes file = joined({begin, first, second});
  for (std::size_t length = 0; length <= file.size(); ++length) {
    const auto read = read_journal(ByteSpan(file).first(length));
    INFO(length);
    if (length < begin.size()) {
      REQUIRE_FALSE(read);
      CHECK(read.error().cause == Cause::damaged);
    } else {
      REQUIRE(read);
      const std::uint64_t expected = length < begin.size() + first.size() ? 0
                                     : length < file.size()               ? 1
                                                                          : 2;
      CHECK((read->publish ? read->publish->size : 0) == expected);
    }
  }
}

TEST_CASE("an altered byte never changes a record; it only ends the journal earlier") {
  const Bytes file = joined({write_begin(example()), write_publish({2, 2, false, false, {}, {}})});
  for (std::size_t i = 0; i < file.size(); ++i) {
    Bytes altered = file;
    altered[i] ^= std::byte{0x10};
    const auto read = read_journal(altered);
    INFO(i);
    CHECK((!read || !read->publish));
    if (read) CHECK(read->begin.path == "/w/out/r3.h5");
  }
}

TEST_CASE("records of unknown kinds are skipped") {
  const Bytes unknown = write_record(99, as_bytes("whatever"));
  const auto read = read_journal(
      joined({write_begin(example()), unknown, write_publish({2, 2, false, false, {}, {}})}));
  REQUIRE(read);
  REQUIRE(read->publish);
  CHECK(read->publish->size == 2);
}

TEST_CASE("a record with a huge length ends the journal and allocates nothing") {
  Bytes file = write_begin(example());
  Writer writer(file);
  writer.u32(0xffffffffU);
  writer.u8(2);
  for (int i = 0; i < 64; ++i) writer.u8(0);
  const auto read = read_journal(file);
  REQUIRE(read);
  CHECK_FALSE(read->publish);
}

TEST_CASE("a begin record with too many masked names is damaged") {
  PartBegin begin = example();
  begin.masked_names.assign(max_masked_names + 1, "x");
  CHECK_FALSE(read_journal(write_begin(begin)));
}

TEST_CASE("part ids are 32 lower-case hexadecimal digits and different each time") {
  const auto a = PartId::random();
  const auto b = PartId::random();
  REQUIRE(a);
  REQUIRE(b);
  CHECK(*a != *b);
  CHECK(a->text().size() == 32);
  CHECK(PartId::parse(a->text()) == *a);
  CHECK_FALSE(PartId::parse("00112233445566778899AABBCCDDEEFF"));
  CHECK_FALSE(PartId::parse("0011"));
  CHECK_FALSE(PartId::parse("00112233445566778899aabbccddeef/"));
}
