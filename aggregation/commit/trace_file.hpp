// SPDX-License-Identifier: BSD-3-Clause
// A commit's trace as text: what the leader and `mcr pack --trace` leave for `mcr trace`. JSON,
// some tens of kilobytes whatever the set's size; for people and tools, no part of a restart.
#pragma once

#include <string>

#include "aggregation/commit/write_container.hpp"

namespace mcr::aggregation {

inline constexpr int trace_version = 1;

std::string trace_text(const CommitReport& report);

/// Puts the text at `name` in `directory` (a descriptor), whole or not at all.
Result<void> write_trace(int directory, const std::string& name, const CommitReport& report);

/// The newest traces of a launch lie in its directory in the stage, one after the other under these
/// names, until the directory goes.
inline constexpr unsigned kept_traces = 16;
std::string trace_name(std::uint64_t container_number);

}  // namespace mcr::aggregation
