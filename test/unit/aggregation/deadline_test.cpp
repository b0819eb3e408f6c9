// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/leader/deadline.hpp"

#include <cstdlib>

#include "test/support/catch.hpp"

using mcr::aggregation::Deadline;

namespace {

constexpr std::uint64_t end_ms = 1'800'000'000'000;
constexpr std::uint64_t minute_ms = 60'000;
constexpr std::uint64_t megabyte = 1'000'000;

}  // namespace

TEST_CASE("without a deadline no moment is near it") {
  Deadline none(std::nullopt);
  none.set_waiting(UINT64_MAX);
  CHECK_FALSE(none.is_near(end_ms));
  CHECK_FALSE(none.needs_speed(end_ms));
}

TEST_CASE("the deadline is near in the last five minutes, and long past when the job goes on") {
  const Deadline deadline(end_ms);
  CHECK_FALSE(deadline.is_near(end_ms - 6 * minute_ms));
  CHECK(deadline.is_near(end_ms - 5 * minute_ms));
  CHECK(deadline.is_near(end_ms + minute_ms));
  CHECK_FALSE(deadline.is_near(end_ms + 6 * minute_ms));
}

TEST_CASE("near the deadline, drains are fast if what waits would take longer than the time left") {
  Deadline deadline(end_ms);
  deadline.measure(100 * megabyte, 1000);      // 100 MB/s
  deadline.set_waiting(100 * 100 * megabyte);  // 100 s, with the margin 200 s
  CHECK_FALSE(deadline.needs_speed(end_ms - 6 * minute_ms));
  CHECK_FALSE(deadline.needs_speed(end_ms - 4 * minute_ms));
  CHECK(deadline.needs_speed(end_ms - 3 * minute_ms));
  SECTION("and stay fast") {
    deadline.measure(1000 * megabyte, 1000);
    CHECK(deadline.needs_speed(end_ms - 3 * minute_ms));
  }
}

TEST_CASE("in the last minute every drain is fast") {
  Deadline deadline(end_ms);
  deadline.set_waiting(1);
  CHECK_FALSE(deadline.needs_speed(end_ms - 2 * minute_ms));
  CHECK(deadline.needs_speed(end_ms - minute_ms));
}

TEST_CASE("small drains say nothing about the speed of large ones") {
  Deadline deadline(end_ms);
  deadline.measure(1000, 1000);
  deadline.set_waiting(100 * megabyte);
  CHECK_FALSE(deadline.needs_speed(end_ms - 4 * minute_ms));
}

TEST_CASE("the deadline comes from deadline= or from Slurm's environment") {
  const auto with = [](const char* text) {
    mcr::restart::Settings settings;
    REQUIRE(settings.set("deadline", text, "a test"));
    return Deadline(settings);
  };
  ::setenv("SLURM_JOB_END_TIME", "1800000000", 1);
  CHECK(with("auto").is_near(end_ms));
  CHECK_FALSE(with("off").is_near(end_ms));
  CHECK(with("1700000000").is_near(end_ms - 100'000'000'000));
  ::setenv("SLURM_JOB_END_TIME", "soon", 1);
  CHECK_FALSE(with("auto").is_near(end_ms));
  ::setenv("SLURM_JOB_END_TIME", "99999999999999999999", 1);
  CHECK_FALSE(with("auto").is_near(end_ms));
  ::unsetenv("SLURM_JOB_END_TIME");
  CHECK_FALSE(with("auto").is_near(end_ms));
}
