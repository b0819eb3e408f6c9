// SPDX-License-Identifier: BSD-3-Clause
// mcr drain: waits until everything that was published on this node is committed.
#include <cstdio>
#include <memory>

#include "aggregation/mcr/commands.hpp"
#include "aggregation/mcr/exit_codes.hpp"
#include "aggregation/mcr/launch_report.hpp"
#include "aggregation/mcr/surroundings.hpp"

namespace mcr::aggregation {
namespace {

struct DrainWords {
  std::string stage;
  std::string timeout = "10 min";
};

}  // namespace

RunCommand declare_drain(CLI::App& app) {
  const auto words = std::make_shared<DrainWords>();
  app.add_option("--stage", words->stage, "directory of the stage (the setting stage=)");
  app.add_option("--timeout", words->timeout, "the longest time to wait")->capture_default_str();
  app.footer(
      "Exit codes: 0 everything is committed, 4 not within the time, 1 parts remain and no leader "
      "drains them; 2 as for every command.");
  return [words](const CommonOptions& common) {
    const auto limit = restart::parse_duration(words->timeout);
    if (!limit) return print_error(common, "drain", limit.error());
    const auto stage = stage_path(words->stage);
    if (!stage) return print_error(common, "drain", stage.error());
    const auto drained = drain_stage("drain", *stage, *limit);
    if (!drained) return print_error(common, "drain", drained.error());
    if (common.json)
      print_json({{"complete", drained->complete}, {"left", to_json(drained->left)}});
    if (drained->complete) {
      if (!common.json) print_line(stdout, "everything is committed");
      return exit_code::success;
    }
    print_left("drain", *stage, drained->left);
    return exit_code_of_left(drained->left);
  };
}

}  // namespace mcr::aggregation
