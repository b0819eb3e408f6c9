// SPDX-License-Identifier: BSD-3-Clause
// mcr leaders start|stop: leaders as a job step of their own, for batch scripts that do not use `mcr run`.
#include <poll.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "aggregation/leader/launches.hpp"
#include "aggregation/leader/resident.hpp"
#include "aggregation/mcr/commands.hpp"
#include "aggregation/mcr/exit_codes.hpp"
#include "aggregation/mcr/launch_report.hpp"
#include "aggregation/mcr/node_leaders.hpp"
#include "aggregation/mcr/print.hpp"
#include "aggregation/mcr/surroundings.hpp"
#include "restart/settings/launcher.hpp"
#include "restart/settings/node_name.hpp"
#include "restart/stage/resident_socket.hpp"

namespace mcr::aggregation {
namespace {

/// After a resident's end, another one that has waited for this serves at the latest after this time.
constexpr std::uint64_t next_resident_ms = 500;
/// The nodes' answers come at the limit, and then have to be transferred.
constexpr std::uint64_t answer_ms = 1000;

struct LeadersWords {
  std::string action;
  bool is_here = false;
  bool until_input_ends = false;
  bool as_node = false;  ///< started on a node by another mcr, for which it prints answers
  std::string timeout = "10 min";
};

Result<ResidentOptions> resident_options(const LeadersWords& words) {
  std::vector<std::string> warnings;
  const restart::Settings settings = MCR_TRY(effective_settings({}, warnings));
  ResidentOptions options;
  options.stage = settings.text("stage");
  options.node = restart::node_name(settings);
  options.until_input_ends = words.until_input_ends;
  return options;
}

/// Runs on each node: until somebody stops it.
Result<int> serve_here(const LeadersWords& words) {
  const ResidentOptions options = MCR_TRY(resident_options(words));
  const auto report = MCR_TRY(serve(options, [&](bool is_served) {
    if (words.as_node) return print_node_begin(is_served);
    print_line(stdout, "%s", options.node.c_str());
    (void)std::fflush(stdout);
  }));
  const int status = report.left > 0 ? exit_code::pending : exit_code::success;
  if (words.as_node) print_node_end(status, report.has_launches);
  return status;
}

/// Tells the residents of this node to end, one after another, and waits for that. False if one is still
/// at work at the limit.
bool end_residents(const std::string& stage, const restart::ResidentAddress& where,
                   const TimeLimit& limit) {
  for (;;) {
    const TimeLimit next(std::min(next_resident_ms, limit.left_ms()));
    auto asked = restart::ask_resident(stage, where, {restart::ResidentRequest::Kind::end, {}, {}});
    while (!asked && next.left_ms() > 0) {
      constexpr int look_ms = 50;
      ::poll(nullptr, 0, look_ms);
      asked = restart::ask_resident(stage, where, {restart::ResidentRequest::Kind::end, {}, {}});
    }
    if (!asked) return true;
    pollfd source{asked->descriptor(), POLLIN, 0};
    if (::poll(&source, 1, static_cast<int>(limit.left_ms())) <= 0) return false;
  }
}

/// Runs on each node.
Result<int> stop_here(const LeadersWords& words, const TimeLimit& limit) {
  const ResidentOptions options = MCR_TRY(resident_options(words));
  if (words.as_node) print_node_begin();
  int status = exit_code::success;
  // Another user's stage holds none of our files.
  if (foreign_stage_text(options.stage).empty()) {
    if (!end_residents(options.stage, {options.node, restart::scheduler_job()}, limit))
      status = exit_code::pending;
    for (const LaunchStatus& launch : MCR_TRY(look_at_stage(options.stage, Launches::of_this_job)))
      if (launch.needs_leader()) status = exit_code::pending;
  }
  if (words.as_node) print_node_end(status);
  return status;
}

Result<int> start_everywhere(const Allocation& allocation) {
  NodeStep step = MCR_TRY(
      NodeStep::start(allocation, {"leaders", "serve", "--as-node"}, NodeStep::Input::none));
  if (const auto begun = step.wait_for_begin(TimeLimit(leaders_start_ms)); !begun) {
    step.abandon();
    step.print_errors();
    return begun.error();
  }
  print_nodes_without_leaders(step, "leaders");
  const auto is_new = [](const NodeAnswer& answer) {
    return answer.has_begun && !answer.is_served;
  };
  if (!step.answers().names(is_new).empty()) return exit_code::success;
  step.abandon();
  print_line(stderr, "mcr leaders: each node of the job has leaders already; nothing was started");
  return exit_code::success;
}

Result<int> stop_everywhere(const Allocation& allocation, const LeadersWords& words,
                            const TimeLimit& limit) {
  NodeStep step = MCR_TRY(
      NodeStep::start(allocation, {"leaders", "stop", "--as-node", "--timeout", words.timeout},
                      NodeStep::Input::none));
  if (!step.wait_for_end(limit.later_by(answer_ms))) step.abandon();
  if (step.has_all_answers() && step.answers().worst_status() == exit_code::success)
    return exit_code::success;
  step.print_errors();
  const std::string nodes = step.answers().names(
      [](const NodeAnswer& answer) { return answer.status.value_or(0) != exit_code::success; });
  if (!nodes.empty())
    print_line(stderr,
               "mcr leaders: not all files are in their containers on %s: run `mcr recover "
               "--all-nodes` in this job, or `mcr recover` on these nodes after it",
               nodes.c_str());
  if (!step.has_all_answers())
    print_line(stderr,
               "mcr leaders: no answer from %s: files that are not committed stay in the memory of "
               "these nodes; run `mcr recover --all-nodes` in this job, or `mcr recover` there",
               step.silent_nodes().c_str());
  return exit_code::pending;
}

Result<int> act(const LeadersWords& words) {
  const TimeLimit limit(MCR_TRY(restart::parse_duration(words.timeout)));
  if (words.action == "serve") return serve_here(words);
  if (words.action == "stop" && (words.is_here || words.as_node)) return stop_here(words, limit);
  const Allocation allocation = MCR_TRY(own_allocation());
  return words.action == "start" ? start_everywhere(allocation)
                                 : stop_everywhere(allocation, words, limit);
}

}  // namespace

RunCommand declare_leaders(CLI::App& app) {
  const auto words = std::make_shared<LeadersWords>();
  app.add_option("ACTION", words->action,
                 "start: on each node of the job; stop: all residents, when all that was closed is "
                 "committed; serve: "
                 "on this node, until it is stopped")
      ->required()
      ->check(CLI::IsMember({"start", "stop", "serve"}));
  app.add_option("--timeout", words->timeout, "the longest time that `stop` takes")
      ->capture_default_str();
  app.add_flag("--here", words->is_here, "`stop` on this node only");
  app.add_flag("--until-input-ends", words->until_input_ends,
               "`serve` ends with its standard input");
  app.add_flag("--as-node", words->as_node)->group("");
  app.footer(
      "Under a scheduler that kills all processes of a job step when the step ends, these leaders "
      "outlive\nthe program's step. `mcr run` starts and stops them by itself.\n"
      "Exit codes: 0 done, 4 files are not committed yet; 1, 2 as everywhere.");
  return [words](const CommonOptions& common) {
    const auto status = act(*words);
    if (!status) {
      const int code = print_error(common, "leaders", status.error());
      if (!words->as_node) return code;
      print_node_end(code);
    }
    // srun must not end the processes of the other nodes.
    if (words->as_node) return exit_code::success;
    if (common.json) print_json({{"complete", *status == exit_code::success}});
    return *status;
  };
}

}  // namespace mcr::aggregation
