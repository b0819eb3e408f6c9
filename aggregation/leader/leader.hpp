// SPDX-License-Identifier: BSD-3-Clause
// The leader's loop: waits for events, asks Decisions, and does what they say.
#pragma once

#include <string>

#include "restart/settings/settings.hpp"
#include "restart/stage/stage.hpp"

namespace mcr::aggregation {

struct LeaderOptions {
  restart::Settings settings;  ///< leader_cpus=, log=
  bool adopts_others = true;   ///< launches in the same stage whose leader is gone get one
  bool is_detached = false;    ///< the session is the leader's alone: its weight
  bool is_process = true;      ///< the process is the leader's alone: priority, log file, signals
};

/// Leads the launch until no process of it lives and nothing is pending, or until SIGTERM has
/// drained what was published. Returns at once if another process leads. `left`: parts still in the
/// stage at the end.
struct LeaderReport {
  bool led = false;
  bool removed = false;  ///< the launch's directory, as nothing is left
  std::size_t left = 0;
};
Result<LeaderReport> lead(restart::LaunchDirectory directory, const LeaderOptions& options);

}  // namespace mcr::aggregation
