// SPDX-License-Identifier: BSD-3-Clause
// How much more the stage may take (stage_limit=), without a look into its directories. The leader
// counts what all parts, kept sets and pools of the user take on this node, and leaves the number in
// the stage.
#pragma once

#include "vol/process/process.hpp"

namespace mcr::vol {

/// Returns how many bytes a new part may take; 0: none.
std::uint64_t stage_room(const JobStage& stage, const restart::Settings& settings);

}  // namespace mcr::vol
