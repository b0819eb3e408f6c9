// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/leader/launches.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <map>
#include <string_view>
#include <thread>

#include "aggregation/commit/summary.hpp"
#include "aggregation/leader/lifetime.hpp"
#include "restart/base/lock.hpp"
#include "restart/base/system.hpp"
#include "restart/container/shared_frames.hpp"
#include "restart/settings/launcher.hpp"
#include "restart/stage/leader_files.hpp"
#include "restart/stage/stage_files.hpp"

namespace mcr::aggregation {

using restart::LaunchDirectory;
using State = restart::LaunchDirectory::State;

namespace {

constexpr auto look_every = std::chrono::milliseconds(50);
constexpr auto end_limit = std::chrono::seconds(2);
/// The most leaders that are started for one launch. If parts are left after the last one, the
/// launch is given up.
constexpr unsigned leaders_tried = 3;

/// Returns the seconds since the leader's last sign of life. A leader rewrites the notice at least
/// once a second; while parts wait, it also rewrites the summary.
std::uint64_t seconds_since_sign(const LaunchDirectory& directory) {
  std::uint64_t sign_ns = directory.notice().written_ns;
  struct stat written {};
  if (restart::system_calls().fstatat(directory.descriptor(), restart::leader_files::summary_name,
                                      &written, 0) == 0)
    sign_ns = std::max(sign_ns, restart::modified_ns(written));
  const std::uint64_t now_ns = restart::clock_ns(CLOCK_REALTIME);
  return sign_ns == 0 || now_ns < sign_ns ? 0 : (now_ns - sign_ns) / 1'000'000'000;
}

}  // namespace

Result<LaunchStatus> look_at_launch(const LaunchDirectory& directory) {
  LaunchStatus status;
  status.path = directory.path();
  status.has_leader = directory.has_leader();
  for (const auto& presence : MCR_TRY(directory.presences()))
    status.processes += presence.alive ? 1 : 0;
  status.open = MCR_TRY(directory.list(State::open)).size();
  status.published = MCR_TRY(directory.uncommitted());
  status.kept = MCR_TRY(directory.list(State::committed)).size();
  status.bytes = MCR_TRY(directory.used_bytes());
  status.summary = read_summary(directory);
  status.silent_s = seconds_since_sign(directory);
  return status;
}

std::string LaunchStatus::what_stands_still() const {
  constexpr std::uint64_t patience_s = 10;
  if (!has_leader) return {};
  const auto text = [](std::uint64_t seconds) { return std::to_string(seconds) + " s"; };
  const restart::LaunchSummary seen = summary.value_or(restart::LaunchSummary{});
  if (silent_s >= patience_s) {
    return "its leader has done nothing for " + text(silent_s) +
           ": the leader is stopped, or waits for storage or for a processor" +
           (seen.doing.empty() ? "" : "; its last known action: " + seen.doing);
  }
  if (published == 0 && open == 0) return {};
  if (!seen.doing.empty() && seen.doing_seconds >= patience_s)
    return "its leader has been " + seen.doing + " for " + text(seen.doing_seconds);
  return {};
}

namespace {

LaunchStatus unreadable_launch(const LaunchDirectory& directory, const Error& error) {
  LaunchStatus status;
  status.path = directory.path();
  status.has_leader = directory.has_leader();
  status.published = std::max<std::size_t>(directory.uncommitted().value_or(0), 1);
  status.unreadable = error.message;
  return status;
}

/// True if the launch's name has the number of another job than this process belongs to: NODE.slurm-JOB-STEP-…
/// (restart/settings/launcher). Launches of one rank, and those of other launchers, have no job's number.
bool is_of_another_job(const LaunchStatus& launch) {
  constexpr std::string_view mark = ".slurm-";
  const std::string job = restart::scheduler_job();
  const std::size_t at = launch.path.rfind(mark);
  return !job.empty() && at != std::string::npos &&
         !launch.path.substr(at + mark.size()).starts_with(job + "-");
}

}  // namespace

Result<std::vector<LaunchStatus>> look_at_stage(const std::string& stage, Launches which) {
  std::vector<LaunchStatus> all;
  for (const std::string& path : MCR_TRY(restart::launch_directories(stage))) {
    const auto directory = LaunchDirectory::open_in(stage, path);
    if (!directory) continue;
    auto status = look_at_launch(*directory);
    if (!status && status.error().system_error == ENOENT) continue;
    LaunchStatus launch =
        status ? std::move(*status) : unreadable_launch(*directory, status.error());
    if (which == Launches::all || launch.processes == 0 || !is_of_another_job(launch))
      all.push_back(std::move(launch));
  }
  return all;
}

std::size_t parts_in(const LaunchDirectory& directory) {
  std::size_t count = 0;
  for (const State state : {State::open, State::published}) {
    if (const auto parts = directory.list(state)) count += parts->size();
  }
  return count;
}

namespace {

/// Removes the directory of a launch that is over and holds no parts; false if it is another one.
bool remove_empty_launch(const LaunchDirectory& directory) {
  if (directory.anybody_lives().value_or(true) || parts_in(directory) > 0 ||
      restart::holds_frames(directory)) {
    return false;
  }
  const auto lock = directory.try_lead();
  return lock && *lock && directory.remove_if_done().value_or(false);
}

}  // namespace

void remove_empty_launches(const std::string& stage) {
  const auto paths = restart::launch_directories(stage);
  if (!paths) return;
  for (const std::string& path : *paths) {
    const auto directory = LaunchDirectory::open_in(stage, path);
    if (directory && !directory->has_leader()) (void)remove_empty_launch(*directory);
  }
}

Result<std::size_t> adopt_launches(const std::string& stage, const std::string& except,
                                   bool kept_too) {
  std::size_t started = 0;
  for (const std::string& path : MCR_TRY(restart::launch_directories(stage))) {
    if (path == except) continue;
    const auto directory = LaunchDirectory::open_in(stage, path);
    if (!directory || directory->has_leader()) continue;
    if (remove_empty_launch(*directory)) continue;
    const bool has_parts = parts_in(*directory) > 0;
    const auto lives = directory->anybody_lives();
    const bool is_over = kept_too && !(lives && *lives);
    if (!has_parts && !is_over) continue;
    MCR_TRY(start_again({"leader", "--detach", "--stage", stage, "--adopt", path}));
    ++started;
  }
  return started;
}

namespace {

/// Waits until no launch in the stage is one of those that `ends` describes: their leaders have removed
/// their directories. The caller may be all that keeps these leaders alive, because a scheduler kills them
/// when the caller's job step ends.
void wait_for_ends(const std::string& stage, std::chrono::steady_clock::time_point limit,
                   bool (*ends)(const LaunchStatus&)) {
  for (;;) {
    const auto launches = look_at_stage(stage);
    const bool any_ends = launches && std::any_of(launches->begin(), launches->end(), ends);
    if (!any_ends || std::chrono::steady_clock::now() >= limit) return;
    std::this_thread::sleep_for(look_every);
  }
}

}  // namespace

void remove_ended_launches(const std::string& stage) {
  const auto limit = std::chrono::steady_clock::now() + end_limit;
  const auto adopted = adopt_launches(stage, {}, true);
  if (!adopted || *adopted == 0) return;
  // The new leaders may not have their locks yet.
  wait_for_ends(stage, limit, [](const LaunchStatus& one) { return one.processes == 0; });
}

namespace {

/// Lets the launch's leader bring to storage what it holds back (flush=). The lock keeps a leader from removing the directory
/// meanwhile, in which the file would stay.
void ask_for_flush(const std::string& stage, const std::string& launch) {
  const auto opened = restart::stage_files::open_directory(AT_FDCWD, stage);
  if (!opened || !restart::try_lock(*opened, restart::LockKind::shared).value_or(false)) return;
  const auto directory = LaunchDirectory::open_in(stage, launch);
  if (directory)
    (void)restart::File::open(directory->descriptor(), restart::leader_files::flush_name,
                              O_WRONLY | O_CREAT | O_NOFOLLOW)
        .has_value();
}

}  // namespace

Result<Drained> wait_until_drained(
    const std::string& stage, Launches which, std::uint64_t limit_ms,
    const std::function<void(std::uint64_t, std::uint64_t)>& progress) {
  using clock = std::chrono::steady_clock;
  const auto limit = clock::now() + std::chrono::milliseconds(limit_ms);
  std::map<std::string, unsigned> tried;
  std::map<std::string, clock::time_point> started;
  std::uint64_t most = 0;
  for (;;) {
    Drained drained;
    std::uint64_t pending = 0;
    bool hopeless = true;
    for (LaunchStatus& launch : MCR_TRY(look_at_stage(stage, which))) {
      const bool orphaned = launch.processes == 0 && launch.open > 0;
      if (launch.published == 0 && !orphaned) continue;
      pending += launch.published + (orphaned ? launch.open : 0);
      if (launch.needs_leader()) {
        // A leader that was started less than two seconds ago may not have its lock yet.
        const bool is_new = started.contains(launch.path) &&
                            clock::now() < started[launch.path] + std::chrono::seconds(2);
        if (is_new) {
          hopeless = false;
        } else if (tried[launch.path]++ < leaders_tried) {
          MCR_TRY(start_again({"leader", "--detach", "--stage", stage, "--adopt", launch.path}));
          started[launch.path] = clock::now();
          hopeless = false;
        }
      } else {
        hopeless = false;
        const bool holds_back = launch.summary && launch.summary->holds_back > 0;
        if (holds_back && launch.processes > 0) ask_for_flush(stage, launch.path);
      }
      drained.left.push_back(std::move(launch));
    }
    most = std::max(most, pending);
    if (progress) progress(most - pending, most);
    drained.complete = drained.left.empty();
    if (drained.complete) {
      wait_for_ends(stage, std::min(limit, clock::now() + end_limit),
                    [](const LaunchStatus& one) { return one.has_leader && one.processes == 0; });
      return drained;
    }
    if (hopeless || clock::now() >= limit) return drained;
    std::this_thread::sleep_for(look_every);
  }
}

}  // namespace mcr::aggregation
