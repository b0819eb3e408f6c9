// SPDX-License-Identifier: BSD-3-Clause
// mcr run -- CMD…: runs a program with its files captured, and ends when all files that the program
// closed are committed.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aggregation/commit/set_files.hpp"
#include "aggregation/leader/lifetime.hpp"
#include "aggregation/mcr/commands.hpp"
#include "aggregation/mcr/exit_codes.hpp"
#include "aggregation/mcr/launch_report.hpp"
#include "aggregation/mcr/node_leaders.hpp"
#include "aggregation/mcr/restart_file.hpp"
#include "aggregation/mcr/shell_quotes.hpp"
#include "aggregation/mcr/sound_set.hpp"
#include "aggregation/mcr/surroundings.hpp"
#include "aggregation/mcr/team_step.hpp"
#include "restart/base/path_names.hpp"
#include "restart/settings/launcher.hpp"
#include "restart/settings/node_name.hpp"
#include "restart/stage/resident_socket.hpp"
#include "restart/stage/stage_files.hpp"

namespace mcr::aggregation {
namespace {

struct RunWords {
  std::vector<std::string> command;
  std::string timeout = "10 min";
  unsigned retries = 0;
  std::string restart;
  std::string directory = ".";
};

/// True if the program may be started again. Not after ^C, or a scheduler's signal, which this process gets
/// too; the program's own status does not tell, because srun returns 143 after a rank's death.
bool may_start_again(int status) {
  return status != 0 && status != 126 && status != 127 && !was_told_to_end();
}

/// Returns the exit status that a shell would give.
int not_started(const CommonOptions& common, const Error& error) {
  const int status = print_error(common, "run", error);
  return error.system_error == ENOENT ? 127 : error.system_error == EACCES ? 126 : status;
}

struct Placeholder {
  std::string_view name;
  std::string value;     ///< in quotes, for messages
  std::string variable;  ///< the shell's variable with the value, as one word
};

constexpr std::string_view placeholder_names[] = {"{set}", "{file}", "{directory}"};

/// Returns the first placeholder that stands in quotes or after a backslash, because the value in single
/// quotes is not safe there. Nothing if there is no such placeholder.
std::optional<std::string_view> placeholder_in_quotes(std::string_view text) {
  char open = 0;  // the quote that is open
  bool is_escaped = false;
  for (; !text.empty(); text.remove_prefix(1)) {
    const auto* const placeholder =
        std::find_if(std::begin(placeholder_names), std::end(placeholder_names),
                     [&](std::string_view name) { return text.starts_with(name); });
    if (placeholder != std::end(placeholder_names) && (open != 0 || is_escaped))
      return *placeholder;
    const char c = text.front();
    const bool is_quote = !is_escaped && (c == '\'' || c == '"' || c == '`');
    if (is_quote && open == 0) {
      open = c;
    } else if (is_quote && open == c) {
      open = 0;
    }
    is_escaped = !is_escaped && c == '\\' && open != '\'';
  }
  return std::nullopt;
}

/// Returns the text with each placeholder replaced by the placeholder's `replacement`: its value, or the variable
/// that holds the value.
std::string filled(std::string_view text, const std::vector<Placeholder>& placeholders,
                   std::string Placeholder::*replacement) {
  std::string line;
  while (!text.empty()) {
    const auto placeholder =
        std::find_if(placeholders.begin(), placeholders.end(),
                     [&](const auto& it) { return text.starts_with(it.name); });
    line += placeholder == placeholders.end() ? std::string(1, text.front())
                                              : (*placeholder).*replacement;
    text.remove_prefix(placeholder == placeholders.end() ? 1 : placeholder->name.size());
  }
  return line;
}

/// Returns the path of the set's first file. If it is not found, the path under which it was written, unless
/// another file is there.
Result<std::string> first_file(const StoredSet& set) {
  auto path = restart_path(set, std::nullopt);
  if (path) return path;
  print_line(stderr, "mcr run: %s", path.error().message.c_str());
  return written_path(set, std::nullopt);
}

/// Returns the user's restart command for the newest whole set. Empty if there is no such set yet;
/// the program then starts from the beginning. nullopt if it must not, because files of a set may be newer than they look.
std::optional<std::vector<std::string>> restart_words(const RunWords& words) {
  if (words.restart.empty()) return std::vector<std::string>();
  const auto from_beginning = [](const std::string& why) {
    print_line(stderr, "mcr run: %s; running the original command again, not that of --restart",
               why.c_str());
    return std::vector<std::string>();
  };
  auto found = sets_in(words.directory, "run");
  if (!found)
    return from_beginning("there is no whole set to restart from: " + found.error().message);
  leave_out_others(*found, ::geteuid(), "run");
  const StoredSet* const newest = newest_sound(found->sets, "run");
  if (newest == nullptr &&
      std::any_of(found->sets.begin(), found->sets.end(),
                  [](const StoredSet& set) { return set.amendments.are_partial(); }))
    return std::nullopt;
  if (newest == nullptr) return from_beginning("there is no whole set in " + words.directory);
  const auto found_file = first_file(*newest);
  if (!found_file) return from_beginning(found_file.error().message);
  const std::string& first = *found_file;
  // Where the set lies, and not where its containers say that it was written: the run may have been moved or copied.
  const std::string set = newest->home->base + "/" + newest->name_below();
  const std::string directory = restart::parent_of(first);
  const std::vector<Placeholder> placeholders = {
      {"{set}", in_quotes(set), "\"$mcr_set\""},
      {"{file}", in_quotes(first), "\"$mcr_file\""},
      {"{directory}", in_quotes(directory), "\"$mcr_directory\""}};
  print_line(stderr, "mcr run: restarting from the newest whole set: %s",
             filled(words.restart, placeholders, &Placeholder::value).c_str());
  // Names are passed as arguments, never as text of the shell script, because other users may have
  // chosen them.
  const std::string variables = "mcr_set=$1 mcr_file=$2 mcr_directory=$3; shift 3\n";
  const std::string line = filled(words.restart, placeholders, &Placeholder::variable);
  return std::vector<std::string>{"/bin/sh", "-c",  variables + line, "mcr run",
                                  set,       first, directory};
}

/// Says once for a launch why it has no leaders of its own: `srun mcr run -- …`.
void explain_step(const std::string& stage) {
  std::vector<std::string> warnings;
  const auto settings = effective_settings({}, warnings);
  const std::string rank = original_variable("SLURM_PROCID");
  if (!settings || !settings->flag("hints") || (!rank.empty() && rank != "0") ||
      restart::has_resident(stage, {restart::node_name(*settings), restart::scheduler_job()}))
    return;
  print_line(
      stderr,
      "mcr run: started inside a job step, so it starts no leaders of their own; if the step "
      "ends early, files that are not committed stay in the nodes' memory. `mcr run -- srun "
      "…` in the batch script avoids that; hints=off silences this line");
}

/// In a batch script of a scheduler: starts leaders that outlive the program's job step. Nothing where
/// none are needed, or where they cannot be started; the program's own leaders then do what they can.
std::optional<NodeStep> start_leaders(const std::string& stage) {
  const auto allocation = find_allocation();
  if (!allocation) {
    if (is_in_step()) explain_step(stage);
    return std::nullopt;
  }
  const auto why_not = [&](const Error& error) {
    print_line(
        stderr,
        "mcr run: no leaders of their own, so files that are not committed when a job step ends "
        "stay in the nodes' memory: %s",
        error.message.c_str());
    return std::nullopt;
  };
  auto step = NodeStep::start(*allocation, {"leaders", "serve", "--until-input-ends", "--as-node"},
                              NodeStep::Input::ends_with_us);
  if (!step) return why_not(step.error());
  if (const auto begun = step->wait_for_begin(TimeLimit(leaders_start_ms)); !begun) {
    step->abandon();
    step->print_errors();
    return why_not(begun.error());
  }
  print_nodes_without_leaders(*step, "run");
  return *std::move(step);
}

/// Nothing outside of a job, or if no replicas are wanted.
std::optional<TeamStep> start_team(const std::string& stage) {
  const auto allocation = find_allocation();
  // The launcher would wait for a lost node.
  if (!allocation || count_living_nodes(*allocation) < allocation->nodes()) return std::nullopt;
  return TeamStep::start(stage, *allocation);
}

/// Brings to storage what the nodes of the job hold of others' sets.
void bring_back_replicas_of_job(const Allocation& allocation, const RunWords& words,
                                const TimeLimit& limit) {
  auto step = NodeStep::start(allocation, {"recover", "--as-node", "--timeout", words.timeout},
                              NodeStep::Input::none);
  if (!step) return print_line(stderr, "mcr run: %s", step.error().message.c_str());
  if (!step->wait_for_end(limit)) step->abandon();
  for (const std::string& line : step->lines()) print_line(stderr, "%s", line.c_str());
  step->print_errors();
}

/// True if the team, or a node, is lost.
bool has_lost_node(std::optional<TeamStep>& team) {
  const auto allocation = find_allocation();
  if (!team || !allocation) return false;
  return team->has_ended() || count_living_nodes(*allocation) < allocation->nodes();
}

/// After the loss of a node: brings to storage what other nodes hold of its sets.
void recover_after_loss(std::optional<TeamStep>& team, const RunWords& words,
                        const TimeLimit& limit) {
  team->report_loss();
  team.reset();
  if (const auto allocation = find_allocation())
    bring_back_replicas_of_job(*allocation, words, limit);
}

/// Waits until this node's stage is drained. An error is only reported, because the program has run and
/// its status counts.
Drained drain_own_stage(const std::string& stage, const TimeLimit& limit) {
  if (!foreign_stage_text(stage).empty()) return {true, {}};
  auto drained = drain_stage("run", stage, limit.left_ms(), Launches::of_this_job);
  if (drained) return *std::move(drained);
  print_line(stderr, "mcr run: %s", drained.error().message.c_str());
  return {false, {}};
}

/// Waits until the leaders of all nodes have committed what is left, and ended. Their input has ended.
/// Returns false, and says which nodes need more, if not all is known to be committed.
bool wait_for_leaders(NodeStep& leaders, const TimeLimit& limit) {
  const bool has_ended = leaders.wait_for_end(limit) || leaders.has_all_answers();
  const std::string silent = leaders.has_all_answers() ? std::string() : leaders.silent_nodes();
  if (!has_ended) {
    print_line(stderr, "mcr run: leaders are still at work on %s: see `mcr status` there",
               silent.c_str());
    return false;
  }
  if (!silent.empty()) {
    leaders.print_errors();
    print_line(stderr,
               "mcr run: the leaders of %s ended early: closed files may still be in the memory "
               "there. Run `mcr recover --all-nodes` in this job, or `mcr recover` on these nodes",
               silent.c_str());
  }
  const std::string unfinished = leaders.answers().names([](const NodeAnswer& answer) {
    return answer.has_begun && answer.status.value_or(0) != exit_code::success;
  });
  if (!unfinished.empty())
    print_line(stderr,
               "mcr run: not all files of %s are committed: run `mcr recover --all-nodes` in this "
               "job, or `mcr recover` on these nodes",
               unfinished.c_str());
  return silent.empty() && unfinished.empty();
}

/// Answers whether a file of the program was captured: whether a launch began.
class CaptureWatch {
 public:
  explicit CaptureWatch(const std::string& stage)
      : stage_(stage), had_stage_(exists(stage)), watch_({stage}, Watch::For::new_directories) {
    // Other ranks of this launch may have begun it: `srun mcr run -- ./solver`.
    const auto launcher = restart::find_launcher(restart::LauncherOverrides{});
    if (launcher.launch)
      has_begun_ = exists(
          stage + "/" +
          restart::stage_files::launch_directory_name(restart::host_name(), *launcher.launch));
  }

  /// Nothing if it is unknown: ranks may have run on other nodes, and nobody there has told.
  std::optional<bool> answer(const std::optional<NodeStep>& leaders, const std::string& program) {
    // Leaders have made the stage, if it was missing, and tell whether a launch has begun in it.
    has_begun_ |= had_stage_ ? watch_.take() : !leaders && exists(stage_);
    if (has_begun_) return true;
    if (leaders) return leaders->answers().has_launches(leaders->nodes());
    return is_step_client(program) ? std::nullopt : std::optional(false);
  }

 private:
  static bool exists(const std::string& path) {
    std::error_code ignored;
    return std::filesystem::exists(path, ignored);
  }

  std::string stage_;
  bool had_stage_;
  bool has_begun_ = false;
  Watch watch_;
};

void print_not_captured(const std::vector<std::string>& command, bool is_job) {
  std::string why = why_variables_are_missing(command);
  if (why.empty()) {
    why = "`mcr doctor --";
    for (const std::string& word : command) why += " " + as_shell_word(word);
    why += "` says why";
  }
  print_line(stderr, "mcr run: no file was captured on %s; %s",
             is_job ? "the job's nodes" : "this node", why.c_str());
}

}  // namespace

RunCommand declare_run(CLI::App& app) {
  const auto words = std::make_shared<RunWords>();
  app.add_option("CMD", words->command, "the program (or mpiexec …) and its arguments, after --")
      ->required();
  app.add_option("--timeout", words->timeout,
                 "how long to wait for commits after the program's end")
      ->capture_default_str();
  app.add_option("--retries", words->retries,
                 "how often the program is started again after a failure")
      ->capture_default_str();
  app.add_option(
      "--restart", words->restart,
      "shell command that starts the program again. {set} is replaced by the newest whole set's "
      "name, which has {rank} in it; {file} by the path of the set's first file; {directory} by "
      "that file's directory. Without this option or without a whole set, CMD is run again");
  app.add_option("--dir", words->directory, "directory in and below which --restart looks for sets")
      ->capture_default_str();
  app.footer(
      "Files that an earlier job left in this node's memory are committed meanwhile.\nExit code: "
      "the program's own, 128 + N after signal N, 126 or 127 if it cannot be started.\nIf the "
      "program's code is 0: 1 nothing was captured; 4 not everything is committed, in time or at "
      "all.");
  return [words](const CommonOptions& common) {
    const auto limit_ms = restart::parse_duration(words->timeout);
    if (!limit_ms) return print_error(common, "run", limit_ms.error());
    if (const auto placeholder = placeholder_in_quotes(words->restart)) {
      return print_error(
          common, "run",
          Error{Cause::usage,
                "--restart: write " + std::string(*placeholder) +
                    " without quotes and backslashes around it; mcr quotes the name itself"});
    }
    const auto stage = stage_path({});
    if (!stage) return print_error(common, "run", stage.error());
    if (::access(plugin_file().c_str(), R_OK) != 0) {
      return print_error(
          common, "run",
          Error{Cause::usage, "cannot run the program with mcr: the plugin " + plugin_file() +
                                  " does not exist; `mcr doctor` says what to install"});
    }
    (void)adopt_launches(*stage, {}, false).has_value();
    survive_messages();
    CaptureWatch captures(*stage);
    auto leaders = start_leaders(*stage);
    auto team = start_team(*stage);
    auto status = run_program(words->command, captured_environment(), common.json);
    if (!status) return not_started(common, status.error());
    unsigned starts = 1;
    for (; may_start_again(*status) && starts <= words->retries; ++starts) {
      (void)drain_own_stage(*stage, TimeLimit(*limit_ms));
      if (has_lost_node(team)) {
        recover_after_loss(team, *words, TimeLimit(*limit_ms));
        team = start_team(*stage);
      }
      print_line(stderr, "mcr run: start %u of the program ended with status %d", starts, *status);
      auto again = restart_words(*words);
      if (!again) break;
      if (again->empty()) again = words->command;
      status = run_program(*again, captured_environment(), common.json);
      if (!status) return not_started(common, status.error());
    }
    const TimeLimit limit(*limit_ms);
    const bool is_node_lost = has_lost_node(team);
    if (leaders) leaders->end_input();
    Drained drained = drain_own_stage(*stage, limit);
    if (leaders && !wait_for_leaders(*leaders, limit)) drained.complete = false;
    if (is_node_lost) {
      recover_after_loss(team, *words, limit);
    } else if (team && leaders && drained.complete) {
      team->end();  // else it goes on as long as the job's residents
    }
    const std::string foreign = foreign_stage_text(*stage);
    const auto captured =
        foreign.empty() ? captures.answer(leaders, words->command.front()) : std::optional(false);
    if (common.json) {
      print_json({{"status", *status},
                  {"starts", starts},
                  {"captured", captured ? nlohmann::json(*captured) : nlohmann::json()},
                  {"complete", drained.complete},
                  {"left", to_json(drained.left)}});
    }
    if (!foreign.empty()) {
      print_line(stderr, "mcr run: %s", foreign.c_str());
    } else if (!captured.value_or(true)) {
      print_not_captured(words->command, leaders.has_value());
    }
    print_left("run", *stage, drained.left);
    if (*status != 0) return *status;
    if (!drained.complete) return exit_code::pending;
    // A neighbour may have made the directory at the stage's path: that is no failure of the job.
    return captured.value_or(true) || !foreign.empty() ? exit_code::success : exit_code::failure;
  };
}

}  // namespace mcr::aggregation
