// SPDX-License-Identifier: BSD-3-Clause
// Remembers stages that did not answer. A part that only another node's stage has may still be
// committed, so an opener waits up to read_wait=. But a lost node never answers. So a process waits
// in vain for each stage only once, and decides later sets at once. The other ranks of its launch
// obey the decision that it records.
#pragma once

#include <string>

namespace mcr::restart {

/// `node` and `launch_directory` are those that the stub of the awaited part names.
[[nodiscard]] bool is_silent_stage(const std::string& node, const std::string& launch_directory);
/// Records that the stage did not answer. Call it only after a full wait: later sets are decided
/// without this stage's parts.
void note_silent_stage(const std::string& node, const std::string& launch_directory);

}  // namespace mcr::restart
