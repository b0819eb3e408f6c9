// SPDX-License-Identifier: BSD-3-Clause
// A wait of the job's end for its leader, which a dead leader does not prolong.
#pragma once

#include <cstdint>

#include "vol/process/growing_pause.hpp"
#include "vol/process/leader_start.hpp"
#include "vol/process/process.hpp"

namespace mcr::vol {

/// Waits until `done` returns true, with growing pauses; false if the limit has passed. Starts a new
/// leader if the leader died meanwhile.
template <typename Done>
bool wait_until(JobStage& stage, std::uint64_t limit_ms, Done done) {
  const std::uint64_t begin = monotonic_ns();
  while (!done()) {
    const std::uint64_t waited_ms = (monotonic_ns() - begin) / 1'000'000;
    if (waited_ms >= limit_ms) return false;
    if (!ensure_leader(stage, LeaderLook::seldom)) return false;
    pause_in_wait(waited_ms);
  }
  return true;
}

}  // namespace mcr::vol
