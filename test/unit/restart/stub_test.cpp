// SPDX-License-Identifier: BSD-3-Clause
#include "restart/format/stub.hpp"

#include "test/support/catch.hpp"

using namespace mcr;
using namespace mcr::restart;

namespace {

Stub example() {
  Stub stub;
  stub.part = *PartId::parse("00112233445566778899aabbccddeeff");
  stub.launch = "slurm-77-0";
  stub.sequence = 300;
  stub.rank = 3;
  stub.rank_count = 8;
  stub.node = "n1";
  stub.masked_names = {"/w/DD0003/DD0003.cpu{rank}", "/w/DD0003/DD{rank}.cpu0003"};
  stub.container_directory = "mcr";
  stub.launch_directory = "/dev/shm/mcr-1000/n1.slurm-77-0";
  stub.path = "/w/DD0003/DD0003.cpu0003";
  return stub;
}

}  // namespace

TEST_CASE("a stub is read back as it was written") {
  const Stub stub = example();
  const Bytes file = write_stub(stub);
  const auto read = read_stub(file);
  REQUIRE(read);
  CHECK(read->part == stub.part);
  CHECK(read->launch == stub.launch);
  CHECK(read->sequence == 300);
  CHECK(read->rank == 3);
  CHECK(read->rank_count == 8);
  CHECK(read->node == stub.node);
  CHECK(read->masked_names == stub.masked_names);
  CHECK(read->container_directory == "mcr");
  CHECK(read->launch_directory == stub.launch_directory);
  CHECK(read->path == stub.path);
}

TEST_CASE("a stub begins like an HDF5 file with a superblock version that does not exist") {
  const Bytes file = write_stub(example());
  CHECK(as_text(file).starts_with("\x89HDF\r\n\x1a\n\xffmcr-stub"));
  CHECK(looks_like_stub(file));
  CHECK(looks_like_stub(ByteSpan(file).first(Stub::head_bytes)));
  CHECK_FALSE(looks_like_stub(ByteSpan(file).first(16)));
  CHECK_FALSE(looks_like_stub({}));
}

TEST_CASE("a stub tells a person where the data is and how to get it") {
  const Bytes file = write_stub(example());
  const auto text = as_text(file);
  CHECK(text.find("/w/DD0003/mcr/set-DD0003.cpu{rank}.slurm-77-0-300.") != std::string_view::npos);
  CHECK(text.find("mcr unpack") != std::string_view::npos);
  CHECK(text.find("rank       3 of 8") != std::string_view::npos);
}

TEST_CASE("every altered byte of a stub's record is noticed") {
  const Bytes file = write_stub(example());
  const std::size_t record_end = as_text(file).find("\n\nThis small file");
  REQUIRE(record_end != std::string_view::npos);
  for (std::size_t i = 0; i < record_end; ++i) {
    for (const unsigned bit : {1U, 0x80U}) {
      Bytes altered = file;
      altered[i] ^= std::byte(bit);
      INFO(i);
      CHECK_FALSE(read_stub(altered));
    }
  }
}

TEST_CASE("a stub that ends too early is damaged, at every length") {
  const Bytes file = write_stub(example());
  const std::size_t record_end = as_text(file).find("\n\nThis small file");
  for (std::size_t length = 0; length < record_end; ++length) {
    const auto read = read_stub(ByteSpan(file).first(length));
    REQUIRE_FALSE(read);
    CHECK(read.error().cause == Cause::damaged);
  }
  CHECK(read_stub(ByteSpan(file).first(record_end)));
}

TEST_CASE("a newer stub is unsupported, not damaged") {
  Bytes file = write_stub(example());
  file[17] = std::byte{2};
  const auto read = read_stub(file);
  REQUIRE_FALSE(read);
  CHECK(read.error().cause == Cause::unsupported);
}

TEST_CASE("a stub with very long names omits candidates") {
  Stub stub = example();
  stub.masked_names.assign(16, "/" + std::string(4090, 'x'));
  stub.path = "/" + std::string(4090, 'y');
  const Bytes file = write_stub(stub);
  CHECK(file.size() <= Stub::max_bytes);
  const auto read = read_stub(file);
  REQUIRE(read);
  CHECK(read->path == stub.path);
  CHECK(read->masked_names.size() >= 8);
}
