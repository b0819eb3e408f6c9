// SPDX-License-Identifier: BSD-3-Clause
// What a stage holds, launch by launch, seen from outside the leader: for `mcr status`, for whoever
// waits until all is committed, and for whoever adopts what a dead leader left.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "restart/format/launch_summary.hpp"
#include "restart/stage/stage.hpp"

namespace mcr::aggregation {

struct LaunchStatus {
  std::string path;
  bool has_leader = false;
  std::size_t processes = 0;  ///< alive
  std::size_t open = 0;
  std::size_t published = 0;
  std::size_t kept = 0;
  std::uint64_t bytes = 0;                        ///< memory that parts and pool take
  std::optional<restart::LaunchSummary> summary;  ///< as the leader left it
  std::uint64_t silent_s = 0;                     ///< since the leader's last sign of life

  /// Says that the leader has made no progress for ten seconds, and what it is doing. Empty where
  /// the leader goes on, or where there is none.
  [[nodiscard]] std::string what_stands_still() const;
  [[nodiscard]] bool needs_leader() const {
    return !has_leader && (published > 0 || (processes == 0 && open > 0));
  }
};
Result<LaunchStatus> look_at_launch(const restart::LaunchDirectory& directory);

/// Of all launches in the stage; those that end meanwhile are left out.
Result<std::vector<LaunchStatus>> look_at_stage(const std::string& stage);

/// Published parts and those that dead writers left open.
std::size_t parts_in(const restart::LaunchDirectory& directory);

/// Starts a leader for each launch in the stage that has none, and parts to see to; with `kept_too`
/// also for those in which only kept parts of a job that is over lie. Returns how many were
/// started. `except`: the path of a launch that has its own.
Result<std::size_t> adopt_launches(const std::string& stage, const std::string& except,
                                   bool kept_too);

/// Waits until nothing in the stage is published and not committed, giving leaders to launches that
/// have lost theirs. False at `limit_ms`, or when leaders give up because storage refuses: `left`
/// says what is left. `progress` gets (parts done, parts in all).
struct Drained {
  bool complete = false;
  std::vector<LaunchStatus> left;
};
Result<Drained> wait_until_drained(
    const std::string& stage, std::uint64_t limit_ms,
    const std::function<void(std::uint64_t, std::uint64_t)>& progress);

}  // namespace mcr::aggregation
