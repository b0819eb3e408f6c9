// SPDX-License-Identifier: BSD-3-Clause
// The regular end of a rank (docs/design/leader.md, exit=wait). The end is recorded first. Then the
// rank waits until its parts are committed, at most exit_wait=. The lowest rank of the node prints
// the summary line. Of several nodes only the node of rank 0 prints it, unless another one has
// trouble.
#pragma once

#include "restart/format/native_counts.hpp"
#include "restart/settings/choices.hpp"
#include "vol/process/node_report.hpp"
#include "vol/process/process.hpp"

namespace mcr::vol {

/// Waits until the part is in storage or, for Close::replicated, until another node keeps it; at most exit_wait=. False if that
/// time has passed.
bool wait_for_close(JobStage& stage, const restart::PartId& part, restart::Close goal);

/// `exit_status`: the process's exit status, or 0 if it is not known.
/// `natives`: the files that this process wrote natively. Returns the files of this node that the leader
/// put back, if this process prints the summary.
restart::NativeCounts end_job(JobStage& stage, int exit_status, const WaitedTime& waited,
                              const restart::NativeCounts& natives);

}  // namespace mcr::vol
