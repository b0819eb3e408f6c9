// SPDX-License-Identifier: BSD-3-Clause
// Leaders detach from the process that starts them. A process in a scheduler's job step adopts them, so that
// it can end them in time: when the step ends, the scheduler kills them.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <set>

namespace mcr::aggregation {

/// The processes that detach from this process, or from processes that it has adopted. One object a process,
/// made before the first leader is started.
class AdoptedLeaders {
 public:
  AdoptedLeaders();

  /// Forgets those that have ended. Returns false if none is left.
  bool reap();
  /// Asks each of them once to end, with SIGTERM: a leader first commits what is published.
  void terminate();
  /// Waits until none is left: at first for `idle_ms` milliseconds, then, after terminate(), for `limit_ms`.
  void end(std::uint64_t idle_ms, std::uint64_t limit_ms);

 private:
  std::set<pid_t> terminated_;
};

}  // namespace mcr::aggregation
