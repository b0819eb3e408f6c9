// SPDX-License-Identifier: BSD-3-Clause
// Which processes of this node hold the locks of a launch, for messages. Nothing else may depend on
// process numbers: a process in a Linux container has none here (restart/base/lock).
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "aggregation/leader/launches.hpp"

namespace mcr::aggregation {

struct LaunchProcesses {
  pid_t leader = 0;  ///< 0: there is none, or its number is not known
  std::vector<pid_t> ranks;
};

/// Reads /proc/locks.
LaunchProcesses processes_of(const std::string& stage, const LaunchStatus& launch);

/// Returns what the parts of the launch wait for, and which processes of this node hold them: "3 parts
/// of mpi-1 wait for their leader (process 4711 on n1), which is writing out/mcr/…".
std::string waiting_text(const std::string& stage, const LaunchStatus& launch);

}  // namespace mcr::aggregation
