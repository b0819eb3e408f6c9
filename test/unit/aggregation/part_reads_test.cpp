// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/merge/part_reads.hpp"

#include <fcntl.h>

#include <algorithm>

#include "aggregation/pipeline/part_sums.hpp"
#include "restart/base/system.hpp"
#include "test/support/catch.hpp"
#include "test/unit/restart/scratch_directory.hpp"

namespace mcr::aggregation {
namespace {

using restart::File;

std::uint64_t calls = 0;

const restart::SystemCalls& counting_calls() {
  static const restart::SystemCalls table = [] {
    restart::SystemCalls counting = restart::real_system_calls();
    counting.pread = [](int file, void* data, std::size_t bytes, off_t offset) {
      ++calls;
      return restart::real_system_calls().pread(file, data, bytes, offset);
    };
    return counting;
  }();
  return table;
}

/// A part whose bytes differ from place to place.
class MadePart {
 public:
  explicit MadePart(std::size_t bytes) : content_(bytes) {
    for (std::size_t i = 0; i < bytes; ++i) content_[i] = static_cast<std::byte>(i * i % 251);
    file_ = File::open(AT_FDCWD, directory_ / "part", O_RDWR | O_CREAT).value();
    REQUIRE(file_.write_at(0, content_));
  }

  [[nodiscard]] const File& file() const { return file_; }
  [[nodiscard]] ByteSpan content() const { return content_; }
  [[nodiscard]] bool holds(std::uint64_t offset, ByteSpan bytes) const {
    return std::ranges::equal(ByteSpan(content_).subspan(offset, bytes.size()), bytes);
  }

 private:
  restart::ScratchDirectory directory_;
  Bytes content_;
  File file_;
};

struct Read {
  std::uint64_t offset;
  std::size_t bytes;
};

}  // namespace

TEST_CASE("small reads that follow one another closely cost few calls") {
  const MadePart part(1U << 20);
  WindowedFile windowed(part.file(), 64U << 10);
  const restart::ReplacedSystemCalls counting(counting_calls());
  calls = 0;
  Bytes out(256);
  for (std::uint64_t at = 0; at + 256 <= part.content().size(); at += 600) {
    REQUIRE(windowed.read_at(at, out));
    REQUIRE(part.holds(at, out));
  }
  CHECK(calls < 40);
}

TEST_CASE("a window gives what the file has, wherever one reads") {
  const MadePart part(300'000);
  WindowedFile windowed(part.file(), GENERATE(std::size_t{0}, 4096U, 10'000U, 65'536U));
  std::uint64_t state = 7;
  std::uint64_t at = 0;
  Bytes out;
  for (int i = 0; i < 4000; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    out.resize((state >> 33) % (i % 9 == 0 ? 9000 : 300));
    const bool jumps = (state >> 20) % 16 == 0;
    at = jumps ? (state >> 11) % part.content().size() : at + (state >> 40) % 700;
    if (at + out.size() > part.content().size()) at = 0;
    REQUIRE(windowed.read_at(at, out));
    REQUIRE(part.holds(at, out));
    at += out.size();
  }
}

TEST_CASE("what lies behind a part's end is damage, read through a window or not") {
  const MadePart part(20'000);
  WindowedFile windowed(part.file(), 65'536);
  Bytes out(1000);
  for (std::uint64_t at = 0; at + out.size() <= 20'000; at += out.size())
    REQUIRE(windowed.read_at(at, out));
  for (const std::uint64_t at : {19'001U, 20'000U, 30'000U}) {
    const auto behind = windowed.read_at(at, out);
    REQUIRE_FALSE(behind);
    CHECK(behind.error().cause == Cause::damaged);
  }
}

TEST_CASE("a part's sum is that of all its bytes, in whatever order and pieces they were read") {
  const MadePart part(3U << 20);
  const std::uint64_t size = part.content().size();
  const PartFiles files{&part.file()};
  const std::vector<std::uint64_t> bytes{size};
  const auto order = GENERATE(
      std::vector<Read>{}, std::vector<Read>{{0, 1U << 20}, {1U << 20, 1U << 20}},
      // Gaps that are read with what follows, and one that is too large for that.
      std::vector<Read>{{2000, 1U << 20}, {(1U << 20) + 5000, 100'000}, {2'900'000, 70'000}},
      // Backwards, over what was summed, within it, and in small pieces.
      std::vector<Read>{{2U << 20, 1U << 20}, {0, 1U << 20}, {500'000, 1U << 20}, {0, 70'000}},
      std::vector<Read>{{0, 300}, {700, 300}, {0, 200'000}, {200'000, 10}, {200'010, 80'000}});
  PartSums sums(files, bytes);
  for (const Read& read : order) {
    const ByteSpan piece = ByteSpan(part.content()).subspan(read.offset, read.bytes);
    REQUIRE(sums.add(0, read.offset, piece));
  }
  const auto sum = sums.finish(0);
  REQUIRE(sum);
  CHECK(*sum == checksum(part.content()));
}

TEST_CASE("bytes that were read in order are not read again for their sum") {
  const MadePart part(2U << 20);
  const PartFiles files{&part.file()};
  const std::vector<std::uint64_t> bytes{part.content().size()};
  DirectReads direct(files);
  PartSums sums(files, bytes);
  const restart::ReplacedSystemCalls counting(counting_calls());
  calls = 0;
  Bytes out(1U << 20);
  for (const std::uint64_t offset : {0U, 1U << 20}) {
    REQUIRE(direct.read(0, offset, out));
    REQUIRE(sums.add(0, offset, out));
  }
  REQUIRE(sums.finish(0));
  CHECK(calls == 2);
}

}  // namespace mcr::aggregation
