// SPDX-License-Identifier: BSD-3-Clause
// Counts of native files, as a job's end and `mcr doctor` show them.
#include "restart/format/native_counts.hpp"

#include "test/support/catch.hpp"

using namespace mcr::restart;

TEST_CASE("the most frequent reason comes first, and reasons without files are left out") {
  NativeCounts counts;
  counts[NativeReason::user_block] = 2;
  counts[NativeReason::swmr] = 2;
  counts[NativeReason::lone] = 1;
  counts[NativeReason::driver] = 12;
  CHECK(total_of(counts) == 17);
  CHECK(reasons_text(counts) ==
        "12 with another file driver, 2 with a user block, 2 for SWMR, 1 of one rank alone");
  CHECK(reasons_text({}).empty());
}

TEST_CASE("files= is advised only if it would capture more files") {
  NativeCounts counts;
  counts[NativeReason::driver] = 3;
  CHECK(advice_on(counts).empty());
  counts[NativeReason::lone] = 1;
  CHECK(advice_on(counts).find("files=") == 0);
}

TEST_CASE("counts are read back as they were written; other lines are ignored") {
  CaptureCounts counts;
  std::uint64_t next = 1;
  counts.captured = next++;
  for (std::uint64_t& number : counts.natives.numbers) number = next++;
  const CaptureCounts read =
      read_capture_counts("nonsense\n=\n" + write_capture_counts(counts) + "more=5\ncaptured");
  CHECK(read.captured == counts.captured);
  CHECK(read.natives.numbers == counts.natives.numbers);
  CHECK(write_capture_counts({}).empty());
}
