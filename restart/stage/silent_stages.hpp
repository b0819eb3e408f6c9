// SPDX-License-Identifier: BSD-3-Clause
// Remembers stages that did not answer. A part that only another node's stage has may still come, so an
// opener waits up to read_wait=. But a lost node never answers, so a process waits in vain for each
// stage only once: later sets are decided at once. The other ranks of its launch obey the decision that
// it records.
#pragma once

#include <string>

namespace mcr::restart {

/// `node`, `launch_directory`: as the stub of the awaited part names them.
[[nodiscard]] bool is_silent_stage(const std::string& node, const std::string& launch_directory);
/// Records that the stage did not answer. Call it only after a full wait: later sets are decided
/// without this stage's parts.
void note_silent_stage(const std::string& node, const std::string& launch_directory);

}  // namespace mcr::restart
