// SPDX-License-Identifier: BSD-3-Clause
#include "vol/capture/written_ranges.hpp"

#include <random>
#include <vector>

#include "test/support/catch.hpp"

namespace mcr::vol {

using Range = WrittenRanges::Range;

namespace {
std::vector<Range> gaps(const WrittenRanges& written, std::uint64_t begin, std::uint64_t end) {
  std::vector<Range> found;
  written.for_gaps(begin, end, [&](std::uint64_t from, std::uint64_t to) {
    found.push_back({from, to});
    return true;
  });
  return found;
}
}  // namespace

TEST_CASE("adjacent writes become one range") {
  WrittenRanges written;
  written.add(0, 10);
  written.add(10, 20);
  written.add(30, 40);
  CHECK(written.ranges() == std::vector<Range>{{0, 20}, {30, 40}});
  written.add(15, 35);
  CHECK(written.ranges() == std::vector<Range>{{0, 40}});
}

TEST_CASE("an empty write adds no range") {
  WrittenRanges written;
  written.add(7, 7);
  CHECK(written.ranges().empty());
  CHECK(gaps(written, 0, 9) == std::vector<Range>{{0, 9}});
}

TEST_CASE("gaps are the unwritten ranges within the given range") {
  WrittenRanges written;
  written.add(10, 20);
  written.add(30, 40);
  CHECK(gaps(written, 0, 50) == std::vector<Range>{{0, 10}, {20, 30}, {40, 50}});
  CHECK(gaps(written, 12, 18).empty());
  CHECK(gaps(written, 15, 35) == std::vector<Range>{{20, 30}});
  CHECK(gaps(written, 20, 30) == std::vector<Range>{{20, 30}});
}

TEST_CASE("bytes that were cut off count as never written when the file grows again") {
  WrittenRanges written;
  written.add(0, 100);
  written.add(200, 300);
  written.cut(50);
  written.add(400, 410);
  CHECK(written.ranges() == std::vector<Range>{{0, 50}, {400, 410}});
}

TEST_CASE("ranges agree with a bitmap after any writes and cuts") {
  std::mt19937 random(20260711);
  for (int round = 0; round < 200; ++round) {
    constexpr std::uint64_t size = 200;
    std::vector<bool> bitmap(size, false);
    WrittenRanges written;
    for (int step = 0; step < 60; ++step) {
      const std::uint64_t begin = random() % size;
      const std::uint64_t end = std::min<std::uint64_t>(size, begin + random() % 30);
      if (random() % 8 == 0) {
        written.cut(begin);
        std::fill(bitmap.begin() + static_cast<std::ptrdiff_t>(begin), bitmap.end(), false);
      } else {
        written.add(begin, end);
        std::fill(bitmap.begin() + static_cast<std::ptrdiff_t>(begin),
                  bitmap.begin() + static_cast<std::ptrdiff_t>(end), true);
      }
      std::vector<bool> seen(size, true);
      for (const Range& gap : gaps(written, 0, size)) {
        REQUIRE(gap.begin < gap.end);
        std::fill(seen.begin() + static_cast<std::ptrdiff_t>(gap.begin),
                  seen.begin() + static_cast<std::ptrdiff_t>(gap.end), false);
      }
      REQUIRE(seen == bitmap);
    }
  }
}

}  // namespace mcr::vol
