// SPDX-License-Identifier: BSD-3-Clause
#include "vol/process/node_report.hpp"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>
#include <string>

#include "codecs/gpu/lanes/open_card.hpp"
#include "restart/base/counted.hpp"
#include "restart/base/file.hpp"
#include "restart/base/log.hpp"
#include "restart/format/masked_name.hpp"
#include "restart/settings/speaking_nodes.hpp"
#include "restart/stage/leader_files.hpp"
#include "restart/stage/stub_file.hpp"
#include "vol/process/job_wait.hpp"
#include "vol/process/job_warnings.hpp"

namespace mcr::vol {

namespace {

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
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.*f%s", value < 10 ? 1 : 0, value, unit);
  return buffer.data();
}

/// Returns `ns` as "1.25 s".
std::string seconds_text(std::uint64_t ns) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.2f s", static_cast<double>(ns) / 1e9);
  return text.data();
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
                         summary.superseded_in +
                         "` lists those whose names a newer set has, and --remove removes them; "
                         "gc=on also removes those of other names, during the job");
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

}  // namespace

restart::LaunchSummary summary_of(const JobStage& stage) {
  const auto content = restart::read_file(stage.directory.descriptor(),
                                          restart::leader_files::summary_name, 1 << 16);
  return content ? restart::read_summary(as_text(*content)) : restart::LaunchSummary{};
}

std::size_t uncommitted_on_node(const JobStage& stage) {
  return stage.directory.uncommitted().value_or(stage.published.size());
}

restart::NativeCounts put_back_in(const restart::LaunchSummary& summary) {
  restart::NativeCounts counts;
  counts[restart::NativeReason::lone] = summary.lone;
  counts[restart::NativeReason::put_back] =
      summary.put_back - std::min(summary.lone, summary.put_back);
  return counts;
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
  if (summary.unflushed > 0)
    line += restart::counted(summary.unflushed, "file") + " replaced in memory (flush=), ";
  if (summary.card_bytes > 0 && summary.encoded_bytes > 0) {
    line += decimal(100 * static_cast<double>(summary.card_bytes) /
                        static_cast<double>(summary.encoded_bytes),
                    " %") +
            " encoded by the GPU, ";
  }
  line += left > 0 ? std::to_string(left) + " not committed yet"
          : astray > 0
              ? "committed, but files of " + restart::counted(astray, "part") + " were not found"
              : "all committed";
  restart::log_summary(line);
  if (!summary.card_problem.empty())
    restart::log_summary(codecs::gpu::problem_text(summary.card_problem));
  restart::NativeCounts natives = natives_on_node(stage);
  add_counts(natives, put_back);
  print_natives(stage, natives);
  print_old_sets(summary);
}

void tell_of_wait(const JobStage& stage) {
  const std::string why = summary_of(stage).last_failure;
  warn_once_in_job(
      stage.launcher, "the storage refuses checkpoint files",
      "the storage refuses checkpoint files: the program's end waits until they are written, for "
      "at most " +
          std::to_string(stage.exit_wait_ms / 1000) + " s (exit_wait=)" +
          (why.empty() ? "" : ": ") + why);
}

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

}  // namespace mcr::vol
