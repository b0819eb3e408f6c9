// SPDX-License-Identifier: BSD-3-Clause
// Stages that did not answer. What only the stage of another node has may still come, so an opener
// waits for it, for read_wait=; but a node that is lost brings nothing however often it is waited
// for. A process waits for a stage in vain once, whatever set it looks at: it decides about later sets
// at once, and the other ranks of its launch obey the decision that it records.
#pragma once

#include <string>

namespace mcr::restart {

/// `launch_directory`: of a stub that names the stage.
[[nodiscard]] bool is_silent_stage(const std::string& node, const std::string& launch_directory);
/// To be called after a whole wait only: later sets are decided without what lies there.
void note_silent_stage(const std::string& node, const std::string& launch_directory);

}  // namespace mcr::restart
