// SPDX-License-Identifier: BSD-3-Clause
// mcr recover [DIR…]: commits what dead jobs and dead leaders left on this node. Below DIR, makes
// moved stubs lead to their containers again, and rewrites stubs that are missing or damaged.

#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include "aggregation/leader/adopted_leaders.hpp"
#include "aggregation/leader/held_replicas.hpp"
#include "aggregation/mcr/commands.hpp"
#include "aggregation/mcr/exit_codes.hpp"
#include "aggregation/mcr/launch_report.hpp"
#include "aggregation/mcr/node_leaders.hpp"
#include "aggregation/mcr/remade_stubs.hpp"
#include "aggregation/mcr/surroundings.hpp"
#include "aggregation/mcr/waiting_parts.hpp"
#include "restart/base/counted.hpp"
#include "restart/settings/launcher.hpp"
#include "restart/stage/resident_socket.hpp"

namespace mcr::aggregation {
namespace {

/// Time for leaders to end after their last commit, and after SIGTERM.
constexpr std::uint64_t leaders_idle_ms = 1000;
constexpr std::uint64_t leaders_end_ms = 10'000;

struct RecoverWords {
  std::vector<std::string> directories;
  std::string stage;
  std::string timeout = "10 min";
  bool dry_run = false;
  bool all_nodes = false;
  bool as_node = false;  ///< started on a node by --all-nodes, for which it prints answers
};

/// The parts of a stage that are to be committed.
struct Staged {
  std::size_t published = 0;
  std::size_t open = 0;  ///< of dead writers
  std::vector<WaitingPart> parts;
};

Result<Staged> look_for_parts(const std::string& stage) {
  Staged staged;
  for (const LaunchStatus& launch : MCR_TRY(look_at_stage(stage))) {
    staged.published += launch.published;
    staged.open += launch.processes == 0 ? launch.open : 0;
    for (WaitingPart& part : published_parts(stage, launch))
      staged.parts.push_back(std::move(part));
  }
  return staged;
}

void print_remade(const Remaking& remade, bool dry_run) {
  const std::string would = dry_run ? "would be" : "was";
  for (const std::string& path : remade.reconnected)
    print_line(stdout, "stub %s connected to its container again: %s", would.c_str(), path.c_str());
  for (const RemadeStub& stub : remade.stubs)
    print_line(stdout, "stub %s made again: %s", would.c_str(), stub.path.c_str());
}

/// What became of the stubs in all directories.
struct StubsReport {
  nlohmann::json made_again = nlohmann::json::array();
  nlohmann::json reconnected = nlohmann::json::array();
  nlohmann::json failures = nlohmann::json::array();
  nlohmann::json kept = nlohmann::json::array();  ///< Remaking::kept
  nlohmann::json needing_allow = nlohmann::json::array();
  /// Of a directory; the results for the others and for the stage are printed in spite of it.
  std::optional<Error> error;
  bool has_damage = false;

  [[nodiscard]] bool is_empty() const {
    return made_again.empty() && reconnected.empty() && failures.empty() && !error;
  }
};

/// Prints to standard error what the user has to know or to do about the stubs of one directory, and adds it to the report.
void report_stubs(const Remaking& remade, StubsReport& report) {
  for (const std::string& failure : remade.failures) {
    print_line(stderr, "mcr recover: the stub was not repaired: %s", failure.c_str());
    report.failures.push_back(failure);
  }
  for (const NeedsAllow& stub : remade.needing_allow) {
    print_line(stderr,
               "mcr recover: %s leads to its container again, which another user could have "
               "replaced; if you trust everybody who may write to %s, open it with allow=%s",
               stub.path.c_str(), stub.allow.c_str(), stub.allow.c_str());
    report.needing_allow.push_back({{"path", stub.path}, {"allow", stub.allow}});
  }
  for (const std::string& path : remade.kept) {
    print_line(stderr,
               "mcr recover: %s is empty, and was made after its set was committed, so it stays; "
               "remove it and run the command again to get the file of the set",
               path.c_str());
    report.kept.push_back(path);
  }
  for (const std::string& path : remade.reconnected) report.reconnected.push_back(path);
  for (const RemadeStub& stub : remade.stubs) {
    report.made_again.push_back({{"path", stub.path}, {"set", stub.set}});
    if (stub.copy.empty()) continue;
    print_line(stderr,
               "mcr recover: %s is another stub of %s, but other users could have put it there, "
               "so it does not count",
               stub.copy.c_str(), stub.path.c_str());
  }
  report.has_damage |= remade.has_damage;
}

StubsReport remake_all_stubs(const RecoverWords& words, bool json) {
  StubsReport report;
  for (const std::string& directory : words.directories) {
    const auto remade = remake_stubs(directory, words.dry_run);
    if (!remade) {
      report.error = remade.error();
      print_line(stderr, "mcr recover: %s", report.error->message.c_str());
      continue;
    }
    report_stubs(*remade, report);
    if (!json) print_remade(*remade, words.dry_run);
  }
  return report;
}

nlohmann::json to_json(const RecoverWords& words, const Staged& before, const BroughtBack& brought,
                       const Drained& drained, const StubsReport& stubs) {
  nlohmann::json json = {{"dry_run", words.dry_run},          {"published", before.published},
                         {"left_open", before.open},          {"replicas", brought.replicas},
                         {"complete", drained.complete},      {"left", to_json(drained.left)},
                         {"stubs", stubs.made_again},         {"reconnected", stubs.reconnected},
                         {"failures", stubs.failures},        {"kept", stubs.kept},
                         {"needs_allow", stubs.needing_allow}};
  if (stubs.error) json["error"] = stubs.error->message;
  return json;
}

/// Nothing if everything was repaired.
std::optional<int> exit_code_of_stubs(const StubsReport& stubs) {
  if (stubs.error) return exit_code_of(*stubs.error);
  if (!stubs.failures.empty()) return exit_code::failure;
  if (stubs.has_damage) return exit_code::damaged;
  return std::nullopt;
}

/// Prints what was in the stage at first, and what became of it.
void print_staged(const Staged& staged, const std::string& stage, const RecoverWords& words) {
  const bool dry_run = words.dry_run;
  std::string what = (words.as_node ? restart::host_name() + ": " : std::string()) +
                     restart::counted(staged.published, "published part");
  if (staged.open > 0)
    what += " and " + std::to_string(staged.open) + " that dead writers left open";
  what += " in " + stage;
  if (dry_run) return print_line(stdout, "%s would be brought to storage", what.c_str());
  const auto left = look_for_parts(stage);
  const std::string outcome =
      outcome_text(outcome_of(staged.parts, left ? left->parts : std::vector<WaitingPart>{}));
  print_line(stdout, "%s%s%s", what.c_str(), outcome.empty() ? "" : ": ", outcome.c_str());
  if (staged.open > 0 && left && left->open == 0)
    print_line(stdout,
               "Data that dead writers had flushed is in plain files now: at each file's path, or "
               "as unfinished-NAME in an mcr/ beside that path or above it if the path is taken or "
               "gone. Data that was neither flushed nor closed is lost, as with native HDF5");
}

/// Prints what became of the replicas that this node holds of others. Returns false if one stays.
bool report_replicas(const BroughtBack& brought, bool dry_run, bool json) {
  if (!json && brought.replicas > 0)
    print_line(stdout, "%s of other nodes %sbrought to storage",
               restart::counted(brought.replicas, "replica").c_str(), dry_run ? "would be " : "");
  for (const std::string& message : brought.kept)
    print_line(stderr, "mcr recover: %s", message.c_str());
  return brought.kept.empty();
}

/// Recovers the stages of all nodes of the job, in a job step of its own. Returns the largest exit code.
Result<int> recover_on_nodes(const RecoverWords& words, const TimeLimit& limit, bool json) {
  const Allocation allocation = MCR_TRY(own_allocation());
  if (json) return Error{Cause::usage, "--all-nodes has no --json"};
  std::vector<std::string> step = {"recover", "--as-node", "--timeout", words.timeout};
  if (!words.stage.empty()) step.insert(step.end(), {"--stage", words.stage});
  if (words.dry_run) step.emplace_back("--dry-run");
  NodeStep nodes =
      MCR_TRY(NodeStep::start(allocation, step, NodeStep::Input::none, NodeStep::Errors::ours));
  constexpr std::uint64_t answer_ms = 1000;
  if (!nodes.wait_for_end(limit.later_by(answer_ms))) nodes.abandon();
  for (const std::string& line : nodes.lines()) print_line(stdout, "%s", line.c_str());
  if (!nodes.has_all_answers()) {
    print_line(stderr,
               "mcr recover: no answer from %s: what is in the memory of these nodes stays there; "
               "see `mcr status` there",
               nodes.silent_nodes().c_str());
    return exit_code::pending;
  }
  if (nodes.lines().empty() && nodes.answers().worst_status() == exit_code::success)
    print_line(stdout, "nothing is left to recover in the stages of %s",
               restart::counted(nodes.nodes(), "node").c_str());
  return nodes.answers().worst_status();
}

}  // namespace

RunCommand declare_recover(CLI::App& app) {
  const auto words = std::make_shared<RecoverWords>();
  app.add_option("DIR", words->directories,
                 "directories of checkpoints in which stubs are repaired");
  app.add_option("--stage", words->stage, "directory of the stage (the setting stage=)");
  app.add_option("--timeout", words->timeout, "the longest time that the command waits")
      ->capture_default_str();
  app.add_flag("-n,--dry-run", words->dry_run, "only print what would be done");
  app.add_flag("--all-nodes", words->all_nodes,
               "recover the stages of all nodes of this batch job, not only of this node");
  app.add_flag("--as-node", words->as_node)->group("");
  app.footer(
      "With DIR, files that a program removed on purpose come back too.\nExit codes: 0 everything "
      "is committed, 4 not within the time, 1 parts remain and no leader drains them, or a stub "
      "was\nnot repaired; 3 a container below DIR is damaged; 2 as for every command.");
  const RunCommand recover = [words](const CommonOptions& common) {
    const auto limit = restart::parse_duration(words->timeout);
    if (!limit) return print_error(common, "recover", limit.error());
    const auto stage = stage_path(words->stage);
    if (!stage) return print_error(common, "recover", stage.error());
    int on_nodes = exit_code::success;
    if (words->all_nodes) {
      const auto status = recover_on_nodes(*words, TimeLimit(*limit), common.json);
      if (!status) return print_error(common, "recover", status.error());
      on_nodes = *status;
    }
    // A stage that --stage names must be this user's. A neighbour may have made the usual one.
    // With --all-nodes, this node was one of them, or does not belong to the job.
    const bool has_stage = !words->all_nodes;
    const std::string foreign = has_stage && words->stage.empty() ? foreign_stage_text(*stage) : "";
    if (!foreign.empty()) print_line(stderr, "mcr recover: %s", foreign.c_str());
    const bool is_looked_at = has_stage && foreign.empty();
    BroughtBack brought;
    if (is_looked_at && words->dry_run) {
      const auto held = count_held_replicas(*stage);
      if (!held) brought.kept.push_back(held.error().message);
      brought.replicas = held ? *held : 0;
    } else if (is_looked_at) {
      // A team that has lost a node needs a moment to end on the others.
      constexpr std::uint64_t team_ends_ms = 5000;
      auto done = bring_back_replicas(*stage, words->as_node ? team_ends_ms : 0);
      if (done) brought = *std::move(done);
      if (!done) brought.kept.push_back(done.error().message);
    }
    const bool are_replicas_back = report_replicas(brought, words->dry_run, common.json);
    const auto before = is_looked_at ? look_for_parts(*stage) : Staged{};
    if (!before) return print_error(common, "recover", before.error());
    Drained drained{true, {}};
    // In a job step, the new leaders must end before this process does.
    std::optional<AdoptedLeaders> leaders;
    if (words->as_node || is_in_step()) leaders.emplace();
    if (!words->dry_run && is_looked_at) {
      auto waited = drain_stage("recover", *stage, *limit);
      if (!waited) return print_error(common, "recover", waited.error());
      drained = std::move(*waited);
      if (drained.complete) remove_ended_launches(*stage);
      // A leader that ends does this, too, but there may be none any more.
      restart::remove_dead_residents(*stage);
      if (drained.complete && leaders) leaders->end(leaders_idle_ms, leaders_end_ms);
    }
    const StubsReport stubs = remake_all_stubs(*words, common.json);
    if (common.json) {
      print_json(to_json(*words, *before, brought, drained, stubs));
    } else if (before->published + before->open > 0) {
      print_staged(*before, *stage, *words);
    } else if (stubs.is_empty() && has_stage && !words->as_node && brought.replicas == 0) {
      print_line(stdout, "nothing is left to recover in the stage %s", stage->c_str());
    }
    if (!drained.complete) {
      print_left("recover", *stage, drained.left);
      return exit_code_of_left(drained.left);
    }
    if (!are_replicas_back) return exit_code::failure;
    return exit_code_of_stubs(stubs).value_or(on_nodes);
  };
  return [words, recover](const CommonOptions& common) {
    if (!words->as_node) return recover(common);
    print_node_begin();
    print_node_end(recover(common));
    return exit_code::success;
  };
}

}  // namespace mcr::aggregation
