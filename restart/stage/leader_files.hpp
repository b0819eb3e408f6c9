// SPDX-License-Identifier: BSD-3-Clause
// Names of the files that a leader has in the directory of its launch, beside the stage's own
// (stage_files.hpp). Only a directory that holds nothing but known names is removed, so a new file of
// the leader has its name here.
#pragma once

#include <string_view>

namespace mcr::restart::leader_files {

/// What the launch has come to (aggregation/commit/summary).
inline constexpr const char* summary_name = "summary";
inline constexpr const char* unfinished_summary_name = "summary.new";
inline constexpr const char* log_name = "leader.log";
/// On which ranks send descriptors of stubs (stub_socket.hpp).
inline constexpr const char* socket_name = "stubs";

inline constexpr const char* names[] = {summary_name, unfinished_summary_name, log_name,
                                        socket_name};

/// Traces of drains (aggregation/commit/trace_file): a number follows, and while one is written
/// `unfinished_suffix`.
inline constexpr std::string_view trace_prefix = "trace.";
inline constexpr std::string_view unfinished_suffix = ".new";

}  // namespace mcr::restart::leader_files
