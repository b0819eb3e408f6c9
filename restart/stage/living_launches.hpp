// SPDX-License-Identifier: BSD-3-Clause
// Launches that live, to an opener of another one. A process that was killed holds its presence until
// the kernel has ended it, which takes a moment on a busy machine; only then is what it left brought
// to storage. A rank that takes it for a living writer meanwhile would read files as they lie there,
// and the next rank the set that was made of them: a mix. So a launch that seems to live is given time
// to die, once; what lives after that is a job that runs beside this one.
#pragma once

#include <cstdint>
#include <string>

namespace mcr::restart {

/// How long a killed process may take to end.
inline constexpr std::uint64_t dying_ms = 3000;

[[nodiscard]] bool is_known_to_live(const std::string& launch_directory);
/// To be called after that time only.
void note_living(const std::string& launch_directory);

}  // namespace mcr::restart
