// SPDX-License-Identifier: BSD-3-Clause
// Gives the leader a descriptor of each stub before H5Fclose returns, so that the leader finds the
// stub whatever the program renames afterwards (docs/design/publish.md). While no leader listens,
// the process keeps the descriptors itself.
#pragma once

#include "vol/process/process.hpp"

namespace mcr::vol {

/// `stub`: the part's own stub, open. Never waits and never fails: a leader without the descriptor
/// searches for the stub.
void hand_over_stub(JobStage& stage, const restart::PartId& part, const restart::File& stub);

/// Hands over waiting stubs, the oldest first, until the leader takes no more.
void hand_over_waiting_stubs(JobStage& stage);

/// Closes the waiting stubs' descriptors, except those that the program has closed itself.
void forget_waiting_stubs(JobStage& stage);

}  // namespace mcr::vol
