// SPDX-License-Identifier: BSD-3-Clause
// The contents of a stage, launch by launch. Used by `mcr status`, by commands that wait until all
// is committed, and by a leader that adopts launches of dead leaders.
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
  std::uint64_t bytes = 0;                        ///< memory that parts and pool/ take
  std::optional<restart::LaunchSummary> summary;  ///< as the leader left it
  std::uint64_t silent_s = 0;                     ///< seconds since the leader's last sign of life
  /// Why the launch's files cannot be read; its published parts then count as not committed. Empty if
  /// they can be read.
  std::string unreadable;

  /// Returns a text which says that the leader has made no progress for ten seconds, and what it is
  /// doing. Empty if it makes progress, or if there is no leader.
  [[nodiscard]] std::string what_stands_still() const;
  [[nodiscard]] bool needs_leader() const {
    return !has_leader && (published > 0 || (processes == 0 && open > 0));
  }
};
Result<LaunchStatus> look_at_launch(const restart::LaunchDirectory& directory);

/// `of_this_job`: leaves out launches with living processes that belong to other jobs of the scheduler.
enum class Launches : std::uint8_t { all, of_this_job };
/// Returns the status of the launches in the stage; launches that end meanwhile are left out. A launch
/// whose files cannot be read counts with at least one published part.
Result<std::vector<LaunchStatus>> look_at_stage(const std::string& stage,
                                                Launches which = Launches::all);

/// Returns how many parts are published, or were left open by dead writers.
std::size_t parts_in(const restart::LaunchDirectory& directory);

/// Removes the directories of launches that are over, and hold no parts: Slurm may kill a leader before it has
/// removed its launch's directory.
void remove_empty_launches(const std::string& stage);

/// Removes the same directories, and starts a leader for each launch that has parts to drain or settle but no
/// leader. With `kept_too`, also starts one for each launch that is over and holds only kept parts. Leaves out
/// the launch with the path `except`, which has a leader. Returns how many leaders were started.
Result<std::size_t> adopt_launches(const std::string& stage, const std::string& except,
                                   bool kept_too);

/// Removes the directories of launches that are over and hold no parts. Starts leaders for those that hold only
/// kept parts or frames, and waits at most two seconds until these leaders have removed the directories: a
/// scheduler may end leaders together with the caller.
void remove_ended_launches(const std::string& stage);

/// Waits until every published part in the stage is committed, and starts leaders for launches that
/// have lost theirs. The result is not complete if `limit_ms` is over, or if leaders give up
/// because storage refuses; `left` then lists the launches that still have parts. `progress` is
/// called with (parts done, parts in all).
struct Drained {
  bool complete = false;
  std::vector<LaunchStatus> left;
};
Result<Drained> wait_until_drained(
    const std::string& stage, Launches which, std::uint64_t limit_ms,
    const std::function<void(std::uint64_t, std::uint64_t)>& progress);

}  // namespace mcr::aggregation
