// SPDX-License-Identifier: BSD-3-Clause
// How long creates wait for a leader that is behind (lag=). The test writes the leader's notice itself.
#include "vol/process/lag.hpp"

#include "restart/base/log.hpp"
#include "restart/base/system.hpp"
#include "test/support/catch.hpp"
#include "test/unit/restart/scratch_directory.hpp"

using namespace mcr;
using namespace mcr::vol;

namespace {

constexpr std::uint64_t lag_wait_ms = 400;

/// A process whose leader lives, so that only the notice decides about a wait.
class Job {
 public:
  Job() {
    restart::set_log_level(restart::LogLevel::quiet);
    REQUIRE(settings_.set("lag", "2", "test"));
    REQUIRE(settings_.set("lag_wait", std::to_string(lag_wait_ms) + " ms", "test"));
    auto lead = stage_.directory.try_lead();
    REQUIRE((lead && *lead));
    leader_ = std::move(**lead);
  }

  /// Returns how many milliseconds a create waits while the notice says this.
  std::uint64_t wait(std::uint64_t sets_behind) {
    restart::LaunchDirectory::Notice notice;
    notice.sets_behind = sets_behind;
    notice.seen_ns = restart::clock_ns(CLOCK_REALTIME);
    REQUIRE(stage_.directory.write_notice(notice));
    const std::uint64_t begin = restart::monotonic_ms();
    wait_for_commits(stage_, "c.{rank}.h5", settings_);
    return restart::monotonic_ms() - begin;
  }

 private:
  static restart::Launcher launcher() {
    restart::Launcher who;
    who.launch = "launch";
    who.node = "node";
    return who;
  }
  [[nodiscard]] restart::LaunchDirectory::Entered enter() const {
    auto entered = restart::LaunchDirectory::enter(scratch_ / "stage", "node", "launch", 0, 1,
                                                   restart::Entering::waits);
    REQUIRE(entered);
    return std::move(*entered);
  }

  restart::ScratchDirectory scratch_;
  JobStage stage_{enter(), launcher(), scratch_ / "stage"};
  restart::Settings settings_;
  restart::File leader_;  ///< holds the leader's lock
};

}  // namespace

TEST_CASE("after a wait in vain no create waits until the leader has committed all sets") {
  Job job;
  CHECK(job.wait(1) < lag_wait_ms);
  CHECK(job.wait(2) >= lag_wait_ms);
  // A second wait in vain would take half as long.
  CHECK(job.wait(2) < lag_wait_ms / 2);
  CHECK(job.wait(1) < lag_wait_ms / 2);  // one set was committed, and one still waits
  CHECK(job.wait(2) < lag_wait_ms / 2);
}

TEST_CASE(
    "each wait in vain halves the next, so that all together take less than twice lag_wait=") {
  Job job;
  std::uint64_t sum = 0;
  for (int i = 0; i < 12; ++i) {
    sum += job.wait(2);
    CHECK(job.wait(0) < lag_wait_ms);
  }
  CHECK(sum >= lag_wait_ms * 3 / 2);
  // Each of the twelve waits may take a quarter of lag_wait= longer on a busy machine.
  CHECK(sum < 2 * lag_wait_ms + 12 * lag_wait_ms / 4);
}
