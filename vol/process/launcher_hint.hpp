// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include "restart/settings/launcher.hpp"

namespace mcr::vol {

/// True if the control groups of a process, as /proc/PID/cgroup lists them, are those of a Slurm job step.
/// Slurm then kills all processes of the step when the step ends, in whatever session they are.
bool is_tracked_by_slurm(std::string_view control_groups);
/// The same for this process.
bool is_tracked_by_slurm();

/// True if that step is one that a launcher started. Slurm ends the steps of a batch script, of an interactive
/// shell and of what runs outside of steps (step_batch, step_interactive, step_extern) only with the job.
bool is_in_numbered_step(std::string_view control_groups);

/// Says once per launch that the launcher will kill this node's leader with the job step, and what to type
/// instead. Says nothing where the leader stays alive.
void hint_at_mcr_run(const restart::Launcher& who);

}  // namespace mcr::vol
