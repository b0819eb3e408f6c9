// SPDX-License-Identifier: BSD-3-Clause
#include "restart/container/part_image.hpp"

#include <fcntl.h>

#include <random>

#include "restart/base/system.hpp"
#include "restart/container/unpack.hpp"
#include "restart/container/verify.hpp"
#include "test/support/catch.hpp"
#include "test/unit/restart/made_container.hpp"
#include "test/unit/restart/scratch_directory.hpp"

namespace mcr::restart {
namespace {

std::unique_ptr<PartSource> open_part(const std::shared_ptr<ContainerReader>& reader,
                                      std::size_t part) {
  const auto parts = reader->parts();
  REQUIRE(parts);
  auto image = open_part_image(reader, (**parts)[part]);
  REQUIRE(image);
  return std::move(*image);
}

/// Number of bytes that were read, counted in the table of system calls.
std::uint64_t bytes_read = 0;
const SystemCalls& counting() {
  static const SystemCalls calls = [] {
    SystemCalls table = real_system_calls();
    table.pread = [](int descriptor, void* out, std::size_t bytes, off_t offset) {
      const ssize_t got = real_system_calls().pread(descriptor, out, bytes, offset);
      if (got > 0) bytes_read += static_cast<std::uint64_t>(got);
      return got;
    };
    return table;
  }();
  return calls;
}

TEST_CASE("reads at any offset and of any length give the part's bytes") {
  const ScratchDirectory directory;
  const MadeContainer made(directory / "container");
  const auto reader = made.open();
  std::mt19937 random(7);
  for (std::size_t part = 0; part < 2; ++part) {
    const auto image = open_part(reader, part);
    const Bytes& original = made.parts[part];
    REQUIRE(image->size() == original.size());
    Bytes whole(original.size());
    REQUIRE(image->read_at(0, whole));
    REQUIRE(whole == original);
    for (int i = 0; i < 300; ++i) {
      const std::size_t begin = random() % original.size();
      const std::size_t count = random() % (original.size() - begin) / (1 + random() % 50);
      Bytes read(count);
      REQUIRE(image->read_at(begin, read));
      REQUIRE(std::equal(read.begin(), read.end(),
                         original.begin() + static_cast<std::ptrdiff_t>(begin)));
    }
    CHECK(image->read_at(original.size(), {}));
    Bytes one(1);
    const auto behind = image->read_at(original.size(), one);
    REQUIRE_FALSE(behind);
    CHECK(behind.error().cause == Cause::usage);
  }
}

TEST_CASE("reads that alternate between all frames decode each frame once") {
  const ScratchDirectory directory;
  const MadeContainer made(directory / "container");
  const ReplacedSystemCalls replaced(counting());
  const auto image = open_part(made.open(), 0);
  const Bytes& part = made.parts[0];
  for (int turn = 0; turn < 3; ++turn) {
    if (turn == 1) bytes_read = 0;
    for (std::size_t place = 0; place + 10 <= part.size(); place += 4000) {
      Bytes some(10);
      REQUIRE(image->read_at(place, some));
      REQUIRE(
          std::equal(some.begin(), some.end(), part.begin() + static_cast<std::ptrdiff_t>(place)));
    }
  }
  CHECK(bytes_read < made.frames[0].stored_bytes);  // only parts of tables were read
}

TEST_CASE("a read decodes only the frames that it touches") {
  const ScratchDirectory directory;
  const MadeContainer made(directory / "container");
  const ReplacedSystemCalls replaced(counting());
  const auto image = open_part(made.open(), 0);
  Bytes some(100);
  REQUIRE(image->read_at(100, some));  // tables and the first frame of "a"
  bytes_read = 0;
  REQUIRE(image->read_at(300, some));  // the same frame
  CHECK(bytes_read == 0);
  REQUIRE(image->read_at(100 + 3 * 8000, some));
  CHECK(bytes_read == made.frames[3].stored_bytes);
}

TEST_CASE("damage names container, variable and rank, and leaves the rest readable") {
  const ScratchDirectory directory;
  const MadeContainer made(directory / "container");
  made.flip(made.frames[7].file_offset + 30);  // a frame of "a" in rank 1's part
  const auto reader = made.open();
  const auto image = open_part(reader, 1);
  Bytes part(made.parts[1].size());
  const auto read = image->read_at(0, part);
  REQUIRE_FALSE(read);
  CHECK(read.error().message.find(made.path) != std::string::npos);
  CHECK(read.error().message.find("variable a, rank 1") != std::string::npos);
  Bytes tail(2000);
  const std::size_t begin = made.parts[1].size() - tail.size();
  REQUIRE(image->read_at(begin, tail));
  CHECK(std::equal(tail.begin(), tail.end(),
                   made.parts[1].begin() + static_cast<std::ptrdiff_t>(begin)));
  Bytes whole(made.parts[0].size());
  CHECK(open_part(reader, 0)->read_at(0, whole));
  CHECK(whole == made.parts[0]);

  const auto verified = verify_container(*reader, {});
  REQUIRE(verified);
  CHECK(verified->damaged_ranks == std::vector<std::uint32_t>{1});
  CHECK_FALSE(verified->damage.empty());
}

TEST_CASE("unpack writes whole files, of all or some ranks, and replaces none unless told to") {
  const ScratchDirectory directory;
  const MadeContainer made(directory / "container");
  const auto reader = made.open();
  UnpackOptions options;
  options.ranks = {1};
  const ScratchDirectory out;
  const auto one = unpack(*reader, out.path(), options);
  REQUIRE(one);
  CHECK(one->files == std::vector<std::string>{"rank1"});
  const auto both = unpack(*reader, out.path(), {});
  REQUIRE_FALSE(both);
  CHECK(both.error().cause == Cause::usage);
  options.ranks.clear();
  options.replace = true;
  REQUIRE(unpack(*reader, out.path(), options));
  for (std::size_t part = 0; part < 2; ++part) {
    const auto bytes = read_file(AT_FDCWD, out / ("rank" + std::to_string(part)), 1U << 20);
    REQUIRE(bytes);
    CHECK(*bytes == made.parts[part]);
  }
}

}  // namespace
}  // namespace mcr::restart
