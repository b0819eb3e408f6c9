// SPDX-License-Identifier: BSD-3-Clause
// mcr leaders start|stop: leaders as a job step of their own, for batch scripts that do not use `mcr run`.
#include <poll.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "aggregation/leader/launches.hpp"
#include "aggregation/leader/resident.hpp"
#include "aggregation/mcr/commands.hpp"
#include "aggregation/mcr/node_leaders.hpp"
#include "aggregation/mcr/options.hpp"
#include "aggregation/mcr/print.hpp"
#include "aggregation/mcr/surroundings.hpp"
#include "restart/settings/launcher.hpp"
#include "restart/settings/node_name.hpp"
#include "restart/stage/resident_socket.hpp"

namespace mcr::aggregation {
namespace {

struct LeadersWords {
  std::string action;
  bool is_here = false;
  bool until_input_ends = false;
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
  const auto report = MCR_TRY(serve(options, [&] {
    print_line(stdout, "%s", options.node.c_str());
    (void)std::fflush(stdout);
  }));
  return report.left > 0 ? exit_code::pending : exit_code::success;
}

/// Runs on each node: tells the resident to end, and waits for that.
Result<int> stop_here(const LeadersWords& words, std::uint64_t limit_ms) {
  const ResidentOptions options = MCR_TRY(resident_options(words));
  const auto asked = restart::ask_resident(options.stage, {options.node, restart::scheduler_job()},
                                           {restart::ResidentRequest::Kind::end, {}, {}});
  if (asked) {
    pollfd source{asked->descriptor(), POLLIN, 0};
    constexpr std::uint64_t most_ms = 1'000'000'000;
    if (::poll(&source, 1, static_cast<int>(std::min(limit_ms, most_ms))) <= 0)
      return exit_code::pending;
  }
  for (const LaunchStatus& launch : MCR_TRY(look_at_stage(options.stage)))
    if (launch.needs_leader()) return exit_code::pending;
  return exit_code::success;
}

Result<int> start_everywhere(const Allocation& allocation) {
  NodeStep step = MCR_TRY(NodeStep::start(allocation, {"leaders", "serve"}, NodeStep::Input::none));
  if (const auto ready = step.wait_for_lines(leaders_start_ms); !ready) {
    step.abandon();
    return ready.error();
  }
  return exit_code::success;
}

Result<int> stop_everywhere(const Allocation& allocation, const LeadersWords& words,
                            std::uint64_t limit_ms) {
  NodeStep step =
      MCR_TRY(NodeStep::start(allocation, {"leaders", "stop", "--here", "--timeout", words.timeout},
                              NodeStep::Input::none));
  return step.wait_for_end(limit_ms + leaders_start_ms).value_or(exit_code::pending);
}

Result<int> act(const LeadersWords& words) {
  const std::uint64_t limit_ms = MCR_TRY(restart::parse_duration(words.timeout));
  if (words.action == "serve") return serve_here(words);
  if (words.action == "stop" && words.is_here) return stop_here(words, limit_ms);
  const Allocation allocation = MCR_TRY(own_allocation());
  return words.action == "start" ? start_everywhere(allocation)
                                 : stop_everywhere(allocation, words, limit_ms);
}

}  // namespace

RunCommand declare_leaders(CLI::App& app) {
  const auto words = std::make_shared<LeadersWords>();
  app.add_option(
         "ACTION", words->action,
         "start: on each node of the job; stop: when all that was closed is committed; serve: "
         "on this node, until it is stopped")
      ->required()
      ->check(CLI::IsMember({"start", "stop", "serve"}));
  app.add_option("--timeout", words->timeout, "how long `stop` waits for commits")
      ->capture_default_str();
  app.add_flag("--here", words->is_here, "`stop` on this node only");
  app.add_flag("--until-input-ends", words->until_input_ends,
               "`serve` ends with its standard input");
  app.footer(
      "Under a scheduler that kills all processes of a job step when the step ends, these leaders "
      "outlive\nthe program's step. `mcr run` starts and stops them by itself.\n"
      "Exit codes: 0 done, 4 files are not committed yet; 1, 2 as everywhere.");
  return [words](const CommonOptions& common) {
    const auto status = act(*words);
    if (!status) return print_error(common, "leaders", status.error());
    if (*status == exit_code::pending && words->action == "stop" && !words->is_here) {
      print_line(
          stderr,
          "mcr leaders: not all files are in their containers: after the job, run `mcr recover` "
          "on its nodes");
    }
    if (common.json) print_json({{"complete", *status == exit_code::success}});
    return *status;
  };
}

}  // namespace mcr::aggregation
