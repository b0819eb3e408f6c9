// SPDX-License-Identifier: BSD-3-Clause
#include "vol/process/job_end.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <set>
#include <string_view>

#include "restart/base/counted.hpp"
#include "restart/base/file.hpp"
#include "restart/base/lock.hpp"
#include "restart/base/log.hpp"
#include "restart/format/launch_summary.hpp"
#include "restart/format/masked_name.hpp"
#include "restart/settings/speaking_nodes.hpp"
#include "restart/stage/leader_files.hpp"
#include "restart/stage/resident_socket.hpp"
#include "restart/stage/stub_file.hpp"
#include "vol/process/growing_pause.hpp"
#include "vol/process/info_string.hpp"
#include "vol/process/job_warnings.hpp"
#include "vol/process/launcher_hint.hpp"
#include "vol/process/leader_start.hpp"
#include "vol/process/mpi_world.hpp"
#include "vol/process/stub_handover.hpp"

namespace mcr::vol {

namespace {

using State = restart::LaunchDirectory::State;

// Waits until `done` returns true, with growing pauses; false if the limit has passed. Starts a new
// leader if the leader died meanwhile.
template <typename Done>
bool wait_until(JobStage& stage, std::uint64_t limit_ms, Done done) {
  const std::uint64_t begin = monotonic_ns();
  while (!done()) {
    const std::uint64_t waited_ms = (monotonic_ns() - begin) / 1'000'000;
    if (waited_ms >= limit_ms) return false;
    if (!ensure_leader(stage, LeaderLook::seldom)) return false;
    pause_in_wait(waited_ms);
  }
  return true;
}

bool is_lowest_rank(const JobStage& stage) {
  const auto presences = stage.directory.presences();
  if (!presences) return false;
  return std::none_of(presences->begin(), presences->end(), [&](const auto& other) {
    // An ended process of the same rank is an earlier program of the launch.
    return other.rank < stage.launcher.rank ||
           (other.rank == stage.launcher.rank && other.alive && other.name < stage.presence.name);
  });
}

/// True if rank 0 runs on another node and has captured the same file as this rank: then that node
/// prints the job's line.
bool does_another_node_speak(const JobStage& stage) {
  const restart::Launcher& who = stage.launcher;
  if (who.rank == 0 || stage.newest_masked_name.empty()) return false;
  const auto siblings =
      restart::sibling_paths(stage.newest_path, stage.newest_masked_name, who.rank, 0);
  return std::any_of(siblings.begin(), siblings.end(), [&](const std::string& path) {
    const auto file =
        restart::File::open(AT_FDCWD, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    const auto stub = file ? restart::read_stub_file(*file) : Result<restart::Stub>(file.error());
    return stub && who.launch && stub->launch == *who.launch;
  });
}

std::uint64_t ranks_here(const JobStage& stage) {
  std::set<std::uint32_t> ranks;
  if (const auto presences = stage.directory.presences())
    for (const auto& presence : *presences) ranks.insert(presence.rank);
  return ranks.size();
}

/// Returns "12 sets of 8 parts", or what this node has of them.
std::string count_text(const JobStage& stage, const restart::LaunchSummary& summary) {
  const std::uint64_t sets = summary.sets;
  const std::uint64_t parts = summary.parts;
  // The line says "in all" if sets have different numbers of parts, because of late parts or files
  // that went native.
  const bool is_even = parts % sets == 0;
  const std::uint64_t rank_count = stage.launcher.rank_count;
  const std::uint64_t here = ranks_here(stage);
  if (here < rank_count && is_even && parts / sets == here) {
    return restart::counted(sets, "set") + " of " + restart::counted(rank_count, "part") +
           ", of which this node has " + std::to_string(here);
  }
  return restart::counted(sets, "set") + (is_even ? " of " : ", ") +
         restart::counted(is_even ? parts / sets : parts, "part") + (is_even ? "" : " in all");
}

std::string decimal(double value, const char* unit) {
  std::array<char, 64> buffer;
  std::snprintf(buffer.data(), buffer.size(), "%.*f%s", value < 10 ? 1 : 0, value, unit);
  return buffer.data();
}

restart::LaunchSummary summary_of(const JobStage& stage) {
  const auto content = restart::read_file(stage.directory.descriptor(),
                                          restart::leader_files::summary_name, 1 << 16);
  return content ? restart::read_summary(as_text(*content)) : restart::LaunchSummary{};
}

/// Returns the count for all ranks of the node, as `mcr status` shows it.
std::size_t uncommitted_on_node(const JobStage& stage) {
  return stage.directory.uncommitted().value_or(stage.published.size());
}

/// Returns `ns` as "1.25 s".
std::string seconds_text(std::uint64_t ns) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.2f s", static_cast<double>(ns) / 1e9);
  return text.data();
}

restart::NativeCounts put_back_in(const restart::LaunchSummary& summary) {
  restart::NativeCounts counts;
  counts[restart::NativeReason::lone] = summary.lone;
  counts[restart::NativeReason::put_back] =
      summary.put_back - std::min(summary.lone, summary.put_back);
  return counts;
}

/// Returns the files that the ended processes of this node wrote natively. The other ranks end at
/// the same time as this one, so waits for them a moment.
restart::NativeCounts natives_on_node(JobStage& stage) {
  constexpr std::uint64_t moment_ms = 300;
  wait_until(stage, moment_ms, [&] {
    const auto others_go_on = stage.directory.anybody_goes_on();
    return !others_go_on || !*others_go_on;
  });
  restart::NativeCounts counts;
  if (const auto presences = stage.directory.presences())
    for (const auto& presence : *presences) add_counts(counts, presence.natives);
  return counts;
}

/// Says that old sets were removed, or could be.
void print_old_sets(const restart::LaunchSummary& summary) {
  if (summary.removed_sets > 0) {
    restart::log_summary("storage ran short, so " +
                         restart::counted(summary.removed_sets, "superseded set") + " removed (" +
                         restart::size_text(summary.removed_bytes) + ", gc=auto)");
  }
  if (summary.superseded_bytes > summary.live_bytes) {
    restart::log_summary("containers of superseded sets take " +
                         restart::size_text(summary.superseded_bytes) + ", the others " +
                         restart::size_text(summary.live_bytes) + ": `mcr gc " +
                         summary.superseded_in + "` lists them, --remove removes them");
  }
}

/// Prints how many files of this node are native, and why.
void print_natives(const JobStage& stage, const restart::NativeCounts& natives) {
  const std::uint64_t total = total_of(natives);
  if (total == 0) return;
  const bool is_one_node = ranks_here(stage) >= stage.launcher.rank_count;
  const std::string advice = advice_on(natives);
  restart::log_summary(restart::counted(total, "file") +
                       (is_one_node ? " written natively: " : " of this node written natively: ") +
                       reasons_text(natives) + (advice.empty() ? "" : ". " + advice));
}

void print_summary(JobStage& stage, const WaitedTime& waited,
                   const restart::NativeCounts& put_back) {
  const restart::LaunchSummary summary = summary_of(stage);
  if (summary.sets == 0) return;
  const std::size_t left = uncommitted_on_node(stage);
  const std::uint64_t astray = summary.astray;
  // If this node had trouble, a warning has said so.
  if (does_another_node_speak(stage)) return;
  const restart::Turn turn = restart::turn_to_speak(stage.launcher, "summary", 1);
  // The launcher may start several programs in turn: then rank 0 reports each of them.
  const bool is_next_program = stage.launcher.rank == 0 && turn == restart::Turn::repeats;
  if (!restart::is_to_print(turn) && !is_next_program) return;
  std::string line = count_text(stage, summary) + ", " + restart::size_text(summary.raw_bytes) +
                     " → " + restart::size_text(summary.stored_bytes);
  if (summary.stored_bytes > 0)
    line +=
        " (" +
        decimal(static_cast<double>(summary.raw_bytes) / static_cast<double>(summary.stored_bytes),
                "×") +
        ")";
  line += ", ranks waited " + seconds_text(waited.all_ns) + " each, ";
  constexpr std::uint64_t told_ns = 10'000'000;
  if (waited.for_commits_ns >= told_ns)
    line += "of which " + seconds_text(waited.for_commits_ns) + " for storage (lag=), ";
  line += left > 0 ? std::to_string(left) + " not committed yet"
          : astray > 0
              ? "committed, but files of " + restart::counted(astray, "part") + " were not found"
              : "all committed";
  restart::log_summary(line);
  restart::NativeCounts natives = natives_on_node(stage);
  add_counts(natives, put_back);
  print_natives(stage, natives);
  print_old_sets(summary);
}

/// Warns that the job waits for full storage, because the job would seem to hang. The warning
/// contains the reason, because the leader's log is removed with the launch's directory as soon as
/// storage has room.
void tell_of_wait(const JobStage& stage) {
  const std::string why = summary_of(stage).last_failure;
  warn_once_in_job(
      stage.launcher, "the storage refuses checkpoint files",
      "the storage refuses checkpoint files: the program's end waits until they are written, for "
      "at most " +
          std::to_string(stage.exit_wait_ms / 1000) + " s (exit_wait=)" +
          (why.empty() ? "" : ": ") + why);
}

/// Reports files that were renamed before their commit and that the leader did not find.
void tell_of_astray_files(const JobStage& stage) {
  const restart::LaunchSummary summary = summary_of(stage);
  if (summary.astray == 0) return;
  warn_once_in_job(
      stage.launcher, "renamed files were not found",
      restart::counted(summary.astray, "checkpoint file") +
          " renamed or removed before the commit, and not found. Nothing is lost: the data is in " +
          summary.astray_in +
          ". If a renamed file does not open, run `mcr recover DIR` with a directory DIR above the "
          "file and the container");
}

/// Reports files that were restored natively after a failed commit, because the user asked for
/// captured ones.
void tell_of_native_files(JobStage& stage) {
  if (summary_of(stage).failed_commits == 0) return;
  // Storage may have room again by now. The leader reports after a moment whether it restored the
  // files natively.
  constexpr std::uint64_t moment_ms = 300;
  const bool are_native = wait_until(stage, moment_ms, [&] {
    return stage.directory.notice().commit_failed || summary_of(stage).put_back > 0;
  });
  if (!are_native) return;
  warn_once_in_job(stage.launcher, "checkpoint files were written natively",
                   "a container could not be written, so checkpoint files were written natively: " +
                       summary_of(stage).last_failure);
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
void wait_until_leader_has_ended(JobStage& stage, int exit_status,
                                 const restart::NativeCounts& natives) {
  constexpr std::uint64_t longest_ms = 1000;
  const std::uint64_t begin = monotonic_ns();
  wait_until(stage, longest_ms, [&] { return !stage.directory.takes_memory().value_or(false); });
  // The leader removes the directory only if no process is present. The second record makes it look.
  restart::unlock(stage.presence.file);
  record_end(stage, exit_status, natives);
  for (;;) {
    const std::uint64_t waited_ms = (monotonic_ns() - begin) / 1'000'000;
    const bool is_removed = ::access(stage.directory.path().c_str(), F_OK) != 0;
    if (is_removed || waited_ms >= longest_ms || !stage.directory.has_leader()) return;
    pause_in_wait(waited_ms);
  }
}

}  // namespace

bool wait_until_durable(JobStage& stage, const restart::PartId& part) {
  ensure_leader(stage, LeaderLook::now);
  return wait_until(stage, stage.exit_wait_ms,
                    [&] { return !stage.directory.is_in(State::published, part); });
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
      wait_until_leader_has_ended(stage, exit_status, natives);
      return put_back;
    }
  }
  // Unlock explicitly: a fork's child may have a copy of the descriptor, and the lock would last as
  // long as the copy.
  restart::unlock(stage.presence.file);
  return put_back;
}

}  // namespace mcr::vol
