// SPDX-License-Identifier: BSD-3-Clause
// How much more the stage may take (stage_limit=), without a look into its directories: what all
// parts, kept sets and pools of the user take on this node is counted by the leader, who leaves it
// in the stage.
#pragma once

#include "vol/process/process.hpp"

namespace mcr::vol {

/// Bytes that a part which is begun now may take. 0: none.
std::uint64_t stage_room(const JobStage& stage, const restart::Settings& settings);

}  // namespace mcr::vol
