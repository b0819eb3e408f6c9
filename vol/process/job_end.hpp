// SPDX-License-Identifier: BSD-3-Clause
// The regular end of a rank (docs/design/leader.md, exit=wait): it is recorded, then the rank waits,
// bounded by exit_wait=, until its parts are committed; the lowest rank of the node prints the one
// summary line.
#pragma once

#include "vol/process/process.hpp"

namespace mcr::vol {

/// close=durable: until the part is no longer only in the stage, bounded by exit_wait=. False at
/// the bound.
bool wait_until_durable(JobStage& stage, const restart::PartId& part);

/// `exit_status`: the process's, 0 where it is not known.
void end_job(JobStage& stage, int exit_status, std::uint64_t waited_ns);

}  // namespace mcr::vol
