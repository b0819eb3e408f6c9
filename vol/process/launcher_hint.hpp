// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

namespace mcr::vol {

/// True if the control groups of a process, as /proc/PID/cgroup lists them, are those of a Slurm job step.
/// Slurm then kills all processes of the step when the step ends, in whatever session they are.
bool is_tracked_by_slurm(std::string_view control_groups);
/// The same for this process.
bool is_tracked_by_slurm();

/// Says once per job, on the node of rank 0, that the launcher will kill this node's leader with the job
/// step, and what to type instead. Says nothing under launchers that leave the leader alive.
void hint_at_mcr_run();

}  // namespace mcr::vol
