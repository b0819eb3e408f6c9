// SPDX-License-Identifier: BSD-3-Clause
#include "vol/process/lag.hpp"

#include <algorithm>

#include "restart/format/masked_name.hpp"
#include "restart/stage/stage.hpp"
#include "vol/process/growing_pause.hpp"
#include "vol/process/job_warnings.hpp"
#include "vol/process/leader_start.hpp"

namespace mcr::vol {

namespace {

using State = restart::LaunchDirectory::State;

enum class Backlog {
  none,       ///< no closed set waits for its commit
  within,     ///< fewer than lag= sets wait
  not_seen,   ///< the leader has not yet looked since this process's last close
  reached,    ///< lag= sets wait
  not_known,  ///< the leader stands still, or storage has failed
};

Backlog look(JobStage& stage, const std::string& pattern, std::uint64_t lag) {
  auto& own = stage.lag.uncommitted[pattern];
  while (!own.empty() && !stage.directory.is_in(State::published, own.front())) own.pop_front();
  const auto notice = stage.directory.notice();
  if (notice.commit_failed) return Backlog::not_known;
  const std::uint64_t now = realtime_ns();
  if (own.size() >= lag && notice.seen_ns <= stage.lag.last_publish_ns) {
    // The notice may be old because the launch's first leader is only starting.
    if (notice.written_ns == stage.lag.standing_notice_ns) return Backlog::not_known;
    if (now < std::max(notice.written_ns, stage.lag.last_publish_ns) + notice.fresh_ns)
      return Backlog::not_seen;
    stage.lag.standing_notice_ns = notice.written_ns;
    return Backlog::not_known;
  }
  if (notice.sets_behind < lag) {
    const bool has_seen_all = notice.seen_ns > stage.lag.last_publish_ns;
    return notice.sets_behind == 0 && has_seen_all ? Backlog::none : Backlog::within;
  }
  return notice.is_fresh(now) ? Backlog::reached : Backlog::not_known;
}

}  // namespace

void note_uncommitted(JobStage& stage, const restart::PartBegin& begin, std::uint64_t size,
                      std::uint64_t published_ns) {
  // Such parts share containers, and those of a pattern count as one set.
  if (begin.rank_count == 1 && size <= restart::largest_bundled_part) return;
  if (begin.masked_names.empty()) return;
  stage.lag.uncommitted[restart::pattern_of(begin.masked_names.front())].push_back(begin.part);
  stage.lag.last_publish_ns = published_ns;
}

void wait_for_commits(JobStage& stage, const std::string& pattern,
                      const restart::Settings& settings) {
  const std::uint64_t lag = settings.count("lag");
  if (lag == 0) return stage.lag.uncommitted.clear();
  // Each wait in vain halves the next one, so that all of them together take less than twice lag_wait=,
  // even if something slows the leader again whenever it has caught up.
  const std::uint64_t longest_ms =
      settings.milliseconds("lag_wait") >> std::min(stage.lag.waits_in_vain, 63U);
  const std::uint64_t begin = monotonic_ns();
  std::uint64_t waited_ms = 0;
  for (;;) {
    const Backlog found = look(stage, pattern, lag);
    if (found == Backlog::none) stage.lag.waits_for_leader = true;
    const bool is_behind = found == Backlog::not_seen || found == Backlog::reached;
    if (!is_behind || !stage.lag.waits_for_leader) break;
    if (waited_ms >= longest_ms) {
      stage.lag.waits_for_leader = false;
      ++stage.lag.waits_in_vain;
      warn_once_in_job(
          stage.launcher, "storage is slow",
          "the storage is slower than the program writes checkpoints: a create has waited for " +
              std::string(settings.text("lag_wait")) +
              " (lag_wait=), and goes on. Sets that are closed and not committed are in this "
              "node's memory; `mcr status` shows them");
      break;
    }
    // While leaders die, a wait would not bring commits. The first look in vain is that of the process
    // that starts the first leader.
    if (!ensure_leader(stage, LeaderLook::seldom) || stage.looks_in_vain > 1) break;
    pause_in_wait(waited_ms);
    waited_ms = (monotonic_ns() - begin) / 1'000'000;
  }
  if (waited_ms > 0) Process::get().waited_for_commits_ns += monotonic_ns() - begin;
}

}  // namespace mcr::vol
