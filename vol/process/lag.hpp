// SPDX-License-Identifier: BSD-3-Clause
// Bounds how many closed sets a crash can cost (lag=): while too many wait for their commit, a create
// waits.
#pragma once

#include <cstdint>
#include <string>

#include "vol/process/process.hpp"

namespace mcr::vol {

/// Call it after each publish of a part of `size` bytes. `published_ns` is a time since 1970 between the
/// moment at which the leader can find the part and now; the earlier, the shorter the next create waits.
void note_uncommitted(JobStage& stage, const restart::PartBegin& begin, std::uint64_t size,
                      std::uint64_t published_ns);

/// Waits until the leader's notice says that fewer than lag= sets of one name pattern wait for their
/// commit on this node. Also waits, as a rule a few milliseconds, if this process has closed lag= files
/// of `pattern` whose commit is not known and the leader has not yet seen the last one. Returns at once
/// if the leader is gone or stands still, or if storage has failed. After a wait of lag_wait= a warning
/// is printed. The process then does not wait again before the leader has committed all sets, and its
/// next wait may take half as long.
void wait_for_commits(JobStage& stage, const std::string& pattern,
                      const restart::Settings& settings);

}  // namespace mcr::vol
