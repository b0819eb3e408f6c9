// SPDX-License-Identifier: BSD-3-Clause
// mcr status: shows which parts lie in the stage, launch by launch, and whether a leader drains
// them. With --watch again each second.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <memory>

#include "aggregation/mcr/commands.hpp"
#include "aggregation/mcr/exit_codes.hpp"
#include "aggregation/mcr/launch_processes.hpp"
#include "aggregation/mcr/launch_report.hpp"
#include "aggregation/mcr/surroundings.hpp"
#include "restart/base/time_stamp.hpp"

namespace mcr::aggregation {
namespace {

volatile sig_atomic_t is_interrupted = 0;

void print_status(const std::string& stage, const std::vector<LaunchStatus>& launches) {
  if (launches.empty())
    return print_line(stdout, "no launch has files in the stage %s", stage.c_str());
  print_launches(stage, launches);
  for (const LaunchStatus& launch : launches) {
    if (launch.published > 0) print_line(stdout, "%s", waiting_text(stage, launch).c_str());
  }
}

/// Prints all launches in one line.
void print_sum(const std::vector<LaunchStatus>& launches) {
  LaunchStatus sum;
  std::size_t leaders = 0;
  for (const LaunchStatus& launch : launches) {
    leaders += launch.has_leader ? 1 : 0;
    sum.processes += launch.processes;
    sum.open += launch.open;
    sum.published += launch.published;
    sum.kept += launch.kept;
    sum.bytes += launch.bytes;
  }
  print_line(stdout,
             "%s launches %zu, leaders %zu, processes %zu, open %zu, published %zu, kept %zu, %s",
             restart::time_stamp().c_str(), launches.size(), leaders, sum.processes, sum.open,
             sum.published, sum.kept, size_text(sum.bytes).c_str());
}

/// Shows the stage each second until SIGINT.
Result<void> watch(const std::string& stage) {
  struct sigaction stop {};
  stop.sa_handler = [](int) { is_interrupted = 1; };
  ::sigaction(SIGINT, &stop, nullptr);  // without SA_RESTART: it ends the sleep
  const bool is_terminal = ::isatty(STDOUT_FILENO) == 1;
  while (is_interrupted == 0) {
    const auto launches = MCR_TRY(look_at_stage(stage));
    if (is_terminal) {
      std::fputs("\033[H\033[J", stdout);  // clears the screen
      print_line(stdout, "%s  Ctrl-C ends", restart::time_stamp().c_str());
      print_status(stage, launches);
    } else {
      print_sum(launches);
    }
    std::fflush(stdout);
    if (is_interrupted == 0) ::sleep(1);
  }
  return {};
}

}  // namespace

RunCommand declare_status(CLI::App& app) {
  const auto stage = std::make_shared<std::string>();
  const auto is_watched = std::make_shared<bool>(false);
  app.add_option("--stage", *stage, "directory of the stage (the setting stage=)");
  app.add_flag("--watch", *is_watched, "show it again each second, until Ctrl-C");
  app.footer(exit_codes_without_data);
  return [stage, is_watched](const CommonOptions& common) {
    const auto path = stage_path(*stage);
    if (!path) return print_error(common, "status", path.error());
    if (*is_watched) {
      const auto watched =
          common.json ? Error{Cause::usage, "--watch has no --json"} : watch(*path);
      return watched ? exit_code::success : print_error(common, "status", watched.error());
    }
    const auto launches = look_at_stage(*path);
    if (!launches) return print_error(common, "status", launches.error());
    if (common.json) {
      print_json({{"stage", *path}, {"launches", to_json(*launches)}});
    } else {
      print_status(*path, *launches);
    }
    return exit_code::success;
  };
}

}  // namespace mcr::aggregation
