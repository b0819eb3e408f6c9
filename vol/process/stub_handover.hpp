// SPDX-License-Identifier: BSD-3-Clause
// Gives the leader a descriptor of each stub before H5Fclose returns, so that the leader finds the stub
// whatever the program renames afterwards (docs/design/publish.md). Until a leader listens the process keeps
// the descriptors itself.
#pragma once

#include "vol/process/process.hpp"

namespace mcr::vol {

/// `stub`: the part's own, open. Never waits and never fails: a leader that gets no
/// descriptor looks for the stub.
void hand_over_stub(JobStage& stage, const restart::PartId& part, const restart::File& stub);

/// Tries again what no leader has taken yet.
void hand_over_waiting_stubs(JobStage& stage);

/// Closes what is left, but no descriptor that the program has closed itself.
void forget_waiting_stubs(JobStage& stage);

}  // namespace mcr::vol
