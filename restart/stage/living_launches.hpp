// SPDX-License-Identifier: BSD-3-Clause
// Remembers other launches that were found alive after a wait. A killed process keeps the lock on
// its presence until the kernel has ended it, which takes a moment on a busy machine. A leader
// drains the process's parts only after that. If one rank took the dying process for a living
// writer, it would read the files as they are. The next rank would read the set that the leader
// made of them meanwhile: a mix. So an opener waits once, for `dying_ms`. A launch that lives after
// that is another running job.
#pragma once

#include <cstdint>
#include <string>

namespace mcr::restart {

/// How long a killed process may take to end.
inline constexpr std::uint64_t dying_ms = 3000;

[[nodiscard]] bool is_known_to_live(const std::string& launch_directory);
/// Records that the launch lives. Call it only after `dying_ms`.
void note_living(const std::string& launch_directory);

}  // namespace mcr::restart
