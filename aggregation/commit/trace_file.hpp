// SPDX-License-Identifier: BSD-3-Clause
// A commit's trace as JSON text, which the leader and `mcr pack --trace` write for `mcr trace`. It
// takes some tens of kilobytes, whatever the set's size. Restarts do not read it.
#pragma once

#include <string>

#include "aggregation/commit/write_container.hpp"

namespace mcr::aggregation {

inline constexpr int trace_version = 1;

std::string trace_text(const CommitReport& report);

/// Writes the trace to `name` in `directory` (a descriptor), whole or not at all. For the launch's own directory in the
/// stage: a file with the name and ".new" is replaced.
Result<void> write_trace(int directory, const std::string& name, const CommitReport& report);
/// The same for a directory of the user's, in which no file is replaced but `name`.
Result<void> write_users_trace(int directory, const std::string& name, const CommitReport& report);

/// How many traces a launch keeps in its directory in the stage. A new trace overwrites the oldest
/// one.
inline constexpr unsigned kept_traces = 16;
std::string trace_name(std::uint64_t container_number);

}  // namespace mcr::aggregation
