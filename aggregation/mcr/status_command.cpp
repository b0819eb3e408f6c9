// SPDX-License-Identifier: BSD-3-Clause
// mcr status: shows which parts lie in the stage, launch by launch, and whether a leader drains
// them.
#include <cstdio>
#include <memory>

#include "aggregation/mcr/commands.hpp"
#include "aggregation/mcr/launch_report.hpp"
#include "aggregation/mcr/options.hpp"
#include "aggregation/mcr/surroundings.hpp"

namespace mcr::aggregation {

RunCommand declare_status(CLI::App& app) {
  const auto stage = std::make_shared<std::string>();
  app.add_option("--stage", *stage, "directory of the stage (the setting stage=)");
  return [stage](const CommonOptions& common) {
    const auto path = stage_path(*stage);
    if (!path) return print_error(common, "status", path.error());
    const auto launches = look_at_stage(*path);
    if (!launches) return print_error(common, "status", launches.error());
    if (common.json) {
      print_json({{"stage", *path}, {"launches", to_json(*launches)}});
    } else if (launches->empty()) {
      print_line(stdout, "no launch has files in the stage %s", path->c_str());
    } else {
      print_launches(*path, *launches);
    }
    return exit_code::success;
  };
}

}  // namespace mcr::aggregation
