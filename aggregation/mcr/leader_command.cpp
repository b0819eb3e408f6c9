// SPDX-License-Identifier: BSD-3-Clause
// mcr leader: the process that the plugin starts on each node. Users run it only for debugging.
#include <memory>

#include "aggregation/leader/leader.hpp"
#include "aggregation/leader/lifetime.hpp"
#include "aggregation/mcr/commands.hpp"
#include "aggregation/mcr/exit_codes.hpp"
#include "aggregation/mcr/print.hpp"
#include "aggregation/mcr/surroundings.hpp"
#include "restart/stage/resident_socket.hpp"

namespace mcr::aggregation {
namespace {

struct LeaderWords {
  bool detach = false;
  bool is_detached = false;
  std::string stage, node, launch, adopt, settings;
};

/// Returns the arguments with which detach() may start the program again.
std::vector<std::string> words_of(const LeaderWords& words) {
  std::vector<std::string> all{"leader", "--detached"};
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) all.insert(all.end(), {option, value});
  };
  add("--stage", words.stage);
  add("--node", words.node);
  add("--launch", words.launch);
  add("--adopt", words.adopt);
  add("--settings", words.settings);
  return all;
}

Result<LeaderReport> lead_launch(restart::LaunchDirectory directory, const LeaderOptions& options,
                                 const std::string& stage) {
  const auto report = MCR_TRY(lead(std::move(directory), options));
  if (report.removed) restart::remove_dead_residents(stage);
  return report;
}

Result<LeaderReport> lead_launch(const LeaderWords& words) {
  LeaderOptions options;
  options.is_detached = words.is_detached;
  // Ignores settings that this version does not know, because the plugin may be older or newer.
  (void)options.settings.set_all(words.settings, "plugin").has_value();
  if (!words.adopt.empty()) {
    options.adopts_others = false;
    const std::string stage = MCR_TRY(stage_path(words.stage));
    return lead_launch(MCR_TRY(restart::LaunchDirectory::open_in(stage, words.adopt)), options,
                       stage);
  }
  if (words.stage.empty() || words.node.empty() || words.launch.empty()) {
    return Error{Cause::usage, "give --stage, --node and --launch, or --adopt DIRECTORY"};
  }
  return lead_launch(
      MCR_TRY(restart::LaunchDirectory::create(words.stage, words.node, words.launch)), options,
      words.stage);
}

}  // namespace

RunCommand declare_leader(CLI::App& app) {
  const auto words = std::make_shared<LeaderWords>();
  app.add_flag("--detach", words->detach, "continue in the background, independent of the job");
  app.add_flag("--detached", words->is_detached)->group("");
  app.add_option("--stage", words->stage,
                 "directory of the stage (with --adopt: default the setting stage=)");
  app.add_option("--node", words->node, "name of the node");
  app.add_option("--launch", words->launch, "text that identifies this start of the program");
  app.add_option("--adopt", words->adopt, "launch directory in the stage whose leader is gone");
  app.add_option("--settings", words->settings, "key=value;… as in HDF5_VOL_CONNECTOR");
  app.footer(
      "Exit codes: 0 nothing remains in the stage, or another process is the leader; 4 parts "
      "remain in the stage; 1, 2 as for every command.");
  return [words](const CommonOptions& common) {
    if (words->detach) {
      const auto detached = detach(words_of(*words));
      if (!detached) return print_error(common, "leader", detached.error());
      words->is_detached = true;
    }
    const auto report = lead_launch(*words);
    if (!report) return print_error(common, "leader", report.error());
    if (common.json)
      print_json({{"led", report->led}, {"removed", report->removed}, {"left", report->left}});
    return report->left > 0 ? exit_code::pending : exit_code::success;
  };
}

}  // namespace mcr::aggregation
