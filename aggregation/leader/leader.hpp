// SPDX-License-Identifier: BSD-3-Clause
// The leader's loop: waits for events, gives them to Decisions, and carries out the decisions.
#pragma once

#include <string>

#include "restart/settings/settings.hpp"
#include "restart/stage/stage.hpp"

namespace mcr::aggregation {

struct LeaderOptions {
  restart::Settings settings;  ///< leader_cpus=, log=
  /// Starts leaders for launches in the same stage whose leader is gone.
  bool adopts_others = true;
  bool is_detached = false;  ///< the session is the leader's alone, so its weight may be set
  /// The process is the leader's alone, so it gets a priority, a log file and signals.
  bool is_process = true;
};

/// Leads the launch until no process of it lives and nothing is pending, or until SIGTERM has
/// drained what was published. Returns at once if another process leads.
struct LeaderReport {
  bool led = false;
  bool removed = false;  ///< the launch's directory was removed, because it held nothing more
  std::size_t left = 0;
};
Result<LeaderReport> lead(restart::LaunchDirectory directory, const LeaderOptions& options);

}  // namespace mcr::aggregation
