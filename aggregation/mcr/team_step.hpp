// SPDX-License-Identifier: BSD-3-Clause
// The team of a job (aggregation/team), as `mcr run` starts and ends it.
#pragma once

#include <optional>
#include <string>

#include "aggregation/mcr/background_program.hpp"
#include "aggregation/mcr/node_leaders.hpp"

namespace mcr::aggregation {

class TeamStep {
 public:
  /// Returns nothing if neither replicas= nor writers= asks for one, if the job has one node, or if no team can be started; the
  /// last is reported.
  static std::optional<TeamStep> start(const std::string& stage, const Allocation& allocation);

  /// True if the team has ended. While the job's residents live, it ends only if a node is lost or a process dies.
  [[nodiscard]] bool has_ended() { return launcher_.status().has_value(); }
  /// Waits for the end of the team, whose residents have ended on all nodes.
  void end();
  /// Ends what is left of the team after the loss of a node, and reports that.
  void report_loss();

 private:
  explicit TeamStep(BackgroundProgram launcher) : launcher_(std::move(launcher)) {}

  BackgroundProgram launcher_;
};

}  // namespace mcr::aggregation
