// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/mcr/team_step.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "aggregation/mcr/print.hpp"
#include "aggregation/mcr/surroundings.hpp"
#include "restart/settings/launcher.hpp"
#include "restart/stage/team_directory.hpp"

namespace mcr::aggregation {
namespace {

constexpr std::uint64_t start_ms = 20'000;
constexpr std::uint64_t end_ms = 10'000;
constexpr int look_ms = 20;
constexpr std::string_view node_count = "NODES";

/// The variables of this process, and what lets the launcher's own job step share the nodes with the program's.
std::vector<std::string> environment_of_launcher() {
  std::vector<std::string> entries = original_environment();
  std::erase_if(entries,
                [](const std::string& entry) { return entry.starts_with("SLURM_MEM_PER_"); });
  entries.emplace_back("SLURM_OVERLAP=1");
  entries.emplace_back("SLURM_MEM_PER_NODE=0");
  return entries;
}

/// Returns the launcher's words, with NODES replaced, and those of the team.
std::vector<std::string> words_of(const std::string& launcher, unsigned nodes,
                                  const std::string& program, const std::string& stage,
                                  std::uint64_t writers) {
  std::vector<std::string> words;
  std::istringstream text(launcher);
  for (std::string word; text >> word;)
    words.push_back(word == node_count ? std::to_string(nodes) : word);
  words.insert(words.end(), {program, "--stage", stage, "--job", restart::scheduler_job(),
                             "--writers", std::to_string(writers)});
  return words;
}

/// Returns the first line that says something.
std::string first_line(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.find_first_not_of(" \t=") != std::string::npos) return line;
  return "it said nothing";
}

/// Says why there is no team, and what that means with these settings.
void report(const restart::Settings& settings, const std::string& why) {
  const bool has_replicas = settings.text("replicas") == "1";
  const bool has_turns = settings.count("writers") > 0;
  const std::string without = std::string(has_replicas ? "no replicas are kept (replicas=1)" : "") +
                              (has_replicas && has_turns ? " and " : "") +
                              (has_turns ? "leaders write at any time (writers=)" : "");
  print_line(stderr, "mcr run: no team, so %s; sets reach storage all the same: %s",
             without.c_str(), why.c_str());
}

bool is_at_work(const std::string& stage) {
  const auto place = restart::TeamDirectory::find(stage);
  return place && *place && (*place)->has_team();
}

}  // namespace

std::optional<TeamStep> TeamStep::start(const std::string& stage, const Allocation& allocation) {
  std::vector<std::string> warnings;
  const auto settings = effective_settings({}, warnings);
  if (!settings || allocation.nodes() < 2) return std::nullopt;
  const std::uint64_t writers = settings->count("writers");
  if (settings->text("replicas") != "1" && writers == 0) return std::nullopt;
  if (is_at_work(stage)) return std::nullopt;  // of another `mcr run` of this job
  const std::string program = beside_command(MCR_TEAM_FROM_COMMAND);
  std::string launcher(settings->text("team_start"));
  if (launcher == "auto") launcher = MCR_TEAM_START;
  if (::access(program.c_str(), X_OK) != 0 || launcher.empty()) {
    report(*settings, "this mcr was built without MPI");
    return std::nullopt;
  }
  auto started = BackgroundProgram::start(
      words_of(launcher, allocation.nodes(), program, stage, writers), environment_of_launcher(),
      BackgroundProgram::Input::none, BackgroundProgram::Errors::kept);
  if (!started) {
    report(*settings, started.error().message + "; team_start= names another launcher");
    return std::nullopt;
  }
  const TimeLimit limit(start_ms);
  while (!is_at_work(stage)) {
    if (const auto status = started->status(); status || limit.left_ms() == 0) {
      report(*settings, (status ? "`" + launcher + "` ended with status " + std::to_string(*status)
                                : "`" + launcher + "` has not started it on this node in time") +
                            ": " + first_line(started->errors() + started->take_output()));
      started->kill();
      return std::nullopt;
    }
    ::poll(nullptr, 0, look_ms);
  }
  return TeamStep(*std::move(started));
}

void TeamStep::end() {
  if (!launcher_.wait_for_end(TimeLimit(end_ms))) launcher_.kill();
}

void TeamStep::report_loss() {
  launcher_.kill();
  print_line(
      stderr,
      "mcr run: the team ended early, as it does when one of its nodes is lost; sets that were "
      "committed after that had no replicas, and no turns to write. `mcr recover --all-nodes` in "
      "this job brings to "
      "storage what other nodes hold of a lost one. The team said: %s",
      first_line(launcher_.errors()).c_str());
}

}  // namespace mcr::aggregation
