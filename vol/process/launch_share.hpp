// SPDX-License-Identifier: BSD-3-Clause
// The place in the stage where this launch's ranks on this node share frames that one of them has
// decoded. The stage is used, and a leader started, when the first such frame is met, not before: a
// launch whose parts have their frames for themselves leaves no trace. Who only reads is no rank of
// the launch to the leader: that says who writes sets.
#pragma once

#include "restart/container/shared_frames.hpp"
#include "vol/process/process.hpp"

namespace mcr::vol {

/// Null where there is nobody to share with: one rank, one on this node, or a launch without a
/// certain name.
std::shared_ptr<restart::FrameShare> launch_share(const Process::SettingsPointer& settings,
                                                  const restart::Launcher& launcher);

}  // namespace mcr::vol
