// SPDX-License-Identifier: BSD-3-Clause
// Gives the leader a descriptor of each stub before H5Fclose returns, so that the leader finds the stub
// whatever the program renames afterwards (docs/design.md 4.4). Until a leader listens the process keeps
// the descriptors itself.
#pragma once

#include "vol/driver/staged_file.hpp"

namespace mcr::vol {

/// For a part whose stub lies at its path. Never waits and never fails: a leader that gets no
/// descriptor looks for the stub.
void hand_over_stub(const StagedPart& part);

/// Tries again what no leader has taken yet.
void hand_over_waiting_stubs(JobStage& stage);

/// Closes what is left, but no descriptor that the program has closed itself.
void forget_waiting_stubs(JobStage& stage);

}  // namespace mcr::vol
