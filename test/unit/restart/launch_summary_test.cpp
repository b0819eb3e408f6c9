// SPDX-License-Identifier: BSD-3-Clause
// The summary that a leader writes for the line at the job's end.
#include "restart/format/launch_summary.hpp"

#include "test/support/catch.hpp"

using namespace mcr::restart;

TEST_CASE("a summary is read back as it was written, with all numbers and texts") {
  LaunchSummary summary;
  std::uint64_t next = 1;
  for (const SummaryNumber& number : summary_numbers) summary.*number.field = next++;
  for (const SummaryText& text : summary_texts) summary.*text.field = "of " + std::string(text.key);
  CHECK(read_summary(write_summary(summary)) == summary);
  CHECK(read_summary(write_summary({})) == LaunchSummary{});
}

TEST_CASE(
    "a line break in a text adds no line to the summary; lines that are not understood are "
    "ignored") {
  LaunchSummary summary;
  summary.last_failure = "no room\nsets=99";
  CHECK(read_summary(write_summary(summary)).sets == 0);
  CHECK(read_summary("sets=3\nnonsense\n=\nsets\nnew_key=4\nparts=x\n") == [] {
    LaunchSummary expected;
    expected.sets = 3;
    return expected;
  }());
}
