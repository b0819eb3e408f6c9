// SPDX-License-Identifier: BSD-3-Clause
#include "restart/format/replica.hpp"

#include "test/support/catch.hpp"

using namespace mcr;
using namespace mcr::restart;

namespace {

Replica example() {
  Replica replica;
  replica.container_bytes = 5;
  replica.supplement = 2;
  replica.clock_behind_ns = 77;
  for (const char* id : {"00112233445566778899aabbccddeeff", "ffeeddccbbaa99887766554433221100"}) {
    Journal journal;
    journal.begin.part = *PartId::parse(id);
    journal.begin.path = std::string("/w/") + id;
    journal.begin.masked_names = {"/w/a.{rank}.h5"};
    journal.begin.amended_by = "L2";
    journal.publish = PartPublish{4096, 5, false, true, PartPublish::NativeFile{7, 8}, {}, true};
    replica.journals.push_back(journal);
  }
  return replica;
}

Bytes bytes_of(const Replica& replica, std::string_view container = "12345") {
  const ByteSpan begin = as_bytes(container);
  Bytes all(begin.begin(), begin.end());
  const Bytes tail = write_replica_tail(replica);
  all.insert(all.end(), tail.begin(), tail.end());
  return all;
}

Result<Replica> read(ByteSpan bytes) {
  auto file = File::without_name("replica");
  REQUIRE(file);
  REQUIRE(file->write_at(0, bytes));
  return read_replica(*file);
}

}  // namespace

TEST_CASE("a replica is read back as it was written") {
  const auto found = read(bytes_of(example()));
  REQUIRE(found);
  CHECK(found->container_bytes == 5);
  CHECK(found->supplement == 2);
  CHECK(found->clock_behind_ns == 77);
  REQUIRE(found->journals.size() == 2);
  const Journal& second = found->journals[1];
  CHECK(second.begin.part == example().journals[1].begin.part);
  CHECK(second.begin.path == example().journals[1].begin.path);
  CHECK(second.begin.masked_names == example().journals[1].begin.masked_names);
  CHECK(second.begin.amended_by == "L2");
  REQUIRE(second.publish);
  CHECK(second.publish->size == 4096);
  CHECK(second.publish->stub_is_placed);
  REQUIRE(second.publish->native);
  CHECK(second.publish->native->inode == 8);
}

TEST_CASE("a replica that ends too early, or has lost its beginning, is damaged") {
  const Bytes whole = bytes_of(example());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CAPTURE(size);
    CHECK_FALSE(read(ByteSpan(whole).first(size)));
    CHECK_FALSE(read(ByteSpan(whole).last(size)));
  }
}

TEST_CASE("a changed bit behind the container is noticed") {
  const Bytes whole = bytes_of(example());
  for (std::size_t at = 5; at < whole.size(); ++at) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      CAPTURE(at, bit);
      Bytes changed = whole;
      changed[at] ^= std::byte(1U << bit);
      CHECK_FALSE(read(changed));
    }
  }
}

TEST_CASE("a replica whose container has another length is damaged") {
  CHECK_FALSE(read(bytes_of(example(), "123456")));
  CHECK_FALSE(read(bytes_of(example(), "1234")));
}
