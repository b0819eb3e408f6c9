// SPDX-License-Identifier: BSD-3-Clause
#include "vol/process/job_end.hpp"

#include <unistd.h>

#include <algorithm>
#include <optional>

#include "restart/base/counted.hpp"
#include "restart/base/lock.hpp"
#include "restart/stage/replicated_parts.hpp"
#include "restart/stage/resident_socket.hpp"
#include "vol/process/growing_pause.hpp"
#include "vol/process/info_string.hpp"
#include "vol/process/job_wait.hpp"
#include "vol/process/job_warnings.hpp"
#include "vol/process/launcher_hint.hpp"
#include "vol/process/leader_start.hpp"
#include "vol/process/mpi_world.hpp"
#include "vol/process/node_report.hpp"
#include "vol/process/stub_handover.hpp"

namespace mcr::vol {

namespace {

using State = restart::LaunchDirectory::State;

bool is_lowest_rank(const JobStage& stage) {
  const auto presences = stage.directory.presences();
  if (!presences) return false;
  return std::none_of(presences->begin(), presences->end(), [&](const auto& other) {
    // An ended process of the same rank is an earlier program of the launch.
    return other.rank < stage.launcher.rank ||
           (other.rank == stage.launcher.rank && other.alive && other.name < stage.presence.name);
  });
}

void record_end(const JobStage& stage, int exit_status, const restart::NativeCounts& natives) {
  (void)stage.directory.end_presence(stage.presence, exit_status, natives, has_finalized_mpi())
      .has_value();
}

/// True if Slurm kills the leader together with this process, which is one of the step's last on this node.
bool does_leader_end_with_us(const JobStage& stage) {
  const auto others_go_on = stage.directory.anybody_goes_on();
  return others_go_on && !*others_go_on && is_tracked_by_slurm() &&
         !restart::has_resident(stage.stage, {stage.launcher.node, restart::scheduler_job()});
}

/// Ends this process's presence, and waits for at most a second until the leader has freed the launch's memory
/// and has removed its directory. What is left when Slurm kills the leader would stay until the user's next job
/// on this node.
void wait_until_leader_has_ended(JobStage& stage, int exit_status) {
  constexpr std::uint64_t longest_ms = 1000;
  const std::uint64_t begin = monotonic_ns();
  wait_until(stage, longest_ms, [&] { return !stage.directory.takes_memory().value_or(false); });
  // The leader removes the directory only if no process is present. It looks again because of the second
  // record; the counts stand in the first one.
  restart::unlock(stage.presence.file);
  record_end(stage, exit_status, {});
  for (;;) {
    const std::uint64_t waited_ms = (monotonic_ns() - begin) / 1'000'000;
    const bool is_removed = ::access(stage.directory.path().c_str(), F_OK) != 0;
    if (is_removed || waited_ms >= longest_ms || !stage.directory.has_leader()) return;
    pause_in_wait(waited_ms);
  }
}

}  // namespace

bool wait_for_close(JobStage& stage, const restart::PartId& part, restart::Close goal) {
  ensure_leader(stage, LeaderLook::now);
  std::optional<restart::ReplicatedParts> replicated;
  std::uint64_t publish_ns = 0;
  if (goal == restart::Close::replicated) {
    const auto journal = stage.directory.journal(State::published, part);
    if (journal && journal->publish) publish_ns = journal->publish->publish_ns;
    replicated.emplace(stage.directory.path());
  }
  return wait_until(stage, stage.exit_wait_ms, [&] {
    return !stage.directory.is_in(State::published, part) ||
           (replicated && replicated->has(part, publish_ns));
  });
}

restart::NativeCounts end_job(JobStage& stage, int exit_status, const WaitedTime& waited,
                              const restart::NativeCounts& natives) {
  restart::NativeCounts put_back;
  record_end(stage, exit_status, natives);
  const auto is_pending = [&](const restart::PartId& part) {
    return stage.directory.is_in(State::published, part);
  };
  if (!stage.waits_at_exit && !stage.published.empty()) ensure_leader(stage, LeaderLook::last);
  hand_over_waiting_stubs(stage);
  if (stage.waits_at_exit && !stage.published.empty()) {
    bool told = false;
    const std::uint64_t begin = monotonic_ns();
    const bool committed = wait_until(stage, stage.exit_wait_ms, [&] {
      hand_over_waiting_stubs(stage);
      // Looks at one part at a time: a look at all of 10,000 parts, twenty times a second, would
      // cost too much.
      while (!stage.published.empty() && !is_pending(*stage.published.begin()))
        stage.published.erase(stage.published.begin());
      if (stage.published.empty()) return true;
      // Warn only after a second: after a failed commit, the leader may still restore the files as
      // plain files.
      const bool stands = monotonic_ns() - begin > 1'000'000'000;
      if (!told && stands && stage.directory.notice().commit_failed) {
        told = true;
        if (is_lowest_rank(stage)) tell_of_wait(stage);
      }
      return false;
    });
    const std::size_t left = committed ? 0 : uncommitted_on_node(stage);
    if (left > 0 && stage.directory.claim_report()) {
      warn_once_in_job(stage.launcher, "checkpoint files not committed yet",
                       restart::counted(left, "checkpoint file") +
                           " of this node not committed yet. Nothing is lost while the node runs: "
                           "the data is in " +
                           stage.directory.path() +
                           ". `mcr status` shows what the leader does, `mcr recover` brings the "
                           "data to storage");
    }
    if (is_lowest_rank(stage)) {
      // The other ranks of the node end at the same time, and the summary must include their last
      // parts.
      wait_until(stage, std::min<std::uint64_t>(stage.exit_wait_ms, 5000), [&] {
        const auto pending = stage.directory.list(State::published);
        return !pending || pending->empty();
      });
      // The leader counts a plain file just after the part has left the stage.
      constexpr std::uint64_t count_ms = 200;
      wait_until(stage, count_ms, [&] { return summary_of(stage).pending == 0; });
      put_back = put_back_in(summary_of(stage));
      if (!told && committed) tell_of_native_files(stage);
      tell_of_astray_files(stage);
      // A tool that only changes a stub, in an environment that sets only the plugin path, gets no
      // summary.
      if (stage.has_created || is_named_by_environment()) print_summary(stage, waited, put_back);
    }
    if (does_leader_end_with_us(stage)) {
      wait_until_leader_has_ended(stage, exit_status);
      return put_back;
    }
  }
  // Unlock explicitly: a fork's child may have a copy of the descriptor, and the lock would last as
  // long as the copy.
  restart::unlock(stage.presence.file);
  return put_back;
}

}  // namespace mcr::vol
