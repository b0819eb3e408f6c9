// SPDX-License-Identifier: BSD-3-Clause
// mcr run -- CMD…: runs a program captured, and ends when all that it closed is committed.
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>

#include "aggregation/leader/lifetime.hpp"
#include "aggregation/mcr/commands.hpp"
#include "aggregation/mcr/launch_report.hpp"
#include "aggregation/mcr/options.hpp"
#include "aggregation/mcr/surroundings.hpp"

namespace mcr::aggregation {
namespace {

struct RunWords {
  std::vector<std::string> command;
  std::string timeout = "10 min";
};

}  // namespace

RunCommand declare_run(CLI::App& app) {
  const auto words = std::make_shared<RunWords>();
  app.add_option("CMD", words->command, "the program (or mpiexec …) and its arguments, behind --")
      ->required();
  app.add_option("--timeout", words->timeout,
                 "how long to wait for commits after the program's end")
      ->capture_default_str();
  app.footer(
      "What an earlier job left on this node is committed meanwhile.\n"
      "Exit code: the program's own, 128 + N after signal N; where that is 0: 1 nothing was "
      "captured, or storage\n"
      "refuses, 4 not committed within the time.");
  return [words](const CommonOptions& common) {
    const auto limit = restart::parse_duration(words->timeout);
    if (!limit) return print_error(common, "run", limit.error());
    const auto stage = stage_path({});
    if (!stage) return print_error(common, "run", stage.error());
    if (::access(plugin_file().c_str(), R_OK) != 0) {
      return print_error(
          common, "run",
          Error{Cause::usage, "the plugin " + plugin_file() + " is not there: `mcr doctor`"});
    }
    (void)adopt_launches(*stage, {}, false).has_value();
    // A launch's directory appears below the stage with its first captured file.
    std::error_code ignored;
    const bool had_stage = std::filesystem::exists(*stage, ignored);
    const Watch launches({*stage}, Watch::For::creations);
    const auto status = run_program(words->command, captured_environment(), common.json);
    if (!status) return print_error(common, "run", status.error());
    const bool captured = had_stage ? launches.take() : std::filesystem::exists(*stage, ignored);
    const auto drained = drain_stage(*stage, *limit);
    if (!drained) return print_error(common, "run", drained.error());
    if (common.json) {
      print_json({{"status", *status},
                  {"captured", captured},
                  {"complete", drained->complete},
                  {"left", to_json(drained->left)}});
    }
    if (!captured) {
      std::string command;
      for (const std::string& word : words->command) command += " " + word;
      std::fprintf(stderr,
                   "mcr run: no file was captured on this node; `mcr doctor --%s` says why\n",
                   command.c_str());
    }
    print_left("run", drained->left);
    if (*status != 0) return *status;
    if (!drained->complete) return exit_code::pending;
    return captured ? exit_code::success : exit_code::failure;
  };
}

}  // namespace mcr::aggregation
