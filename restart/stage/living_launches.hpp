// SPDX-License-Identifier: BSD-3-Clause
// Remembers other launches that were found alive after a wait. A killed process holds its presence
// until the kernel has ended it, which takes a moment on a busy machine; only then does a leader drain
// what it left. If one rank took the dying process for a living writer, it would read the files as they
// lie there, and the next rank would read the set made of them: a mix. So an opener waits once, for
// `dying_ms`. A launch that lives after that is a job that runs beside this one.
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
