// SPDX-License-Identifier: BSD-3-Clause
// The place in the stage where this launch's ranks on this node share decoded frames. The stage is
// used, and a leader started, only when the first frame that belongs to several parts is read;
// before that, the launch leaves no trace there. A rank that only reads has no presence, because
// presences tell the leader which ranks write sets.
#pragma once

#include "restart/container/shared_frames.hpp"
#include "vol/process/process.hpp"

namespace mcr::vol {

/// Returns null if no other process can share frames: there is one rank, one rank on this node, or
/// the launch is not known.
std::shared_ptr<restart::FrameShare> launch_share(const Process::SettingsPointer& settings,
                                                  const restart::Launcher& launcher);

}  // namespace mcr::vol
