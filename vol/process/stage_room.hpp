// SPDX-License-Identifier: BSD-3-Clause
// How many more bytes the stage may take (stage_limit=), found without listing its directories. The
// leader counts the bytes of all parts, kept sets and pools of the user on this node, and writes
// the number into the stage.
#pragma once

#include "vol/process/process.hpp"

namespace mcr::vol {

/// Returns how many bytes a new part may take; 0: none.
std::uint64_t stage_room(const JobStage& stage, const restart::Settings& settings);

}  // namespace mcr::vol
