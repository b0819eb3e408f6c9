// SPDX-License-Identifier: BSD-3-Clause
// Names of the files that a leader keeps in its launch's directory, beside the files of the stage
// itself (stage_files.hpp). A directory is removed only if it holds nothing but known names. So a
// new file of the leader must be added here.
#pragma once

#include <string_view>

namespace mcr::restart::leader_files {

/// The state of the launch (aggregation/commit/summary).
inline constexpr const char* summary_name = "summary";
inline constexpr const char* unfinished_summary_name = "summary.new";
inline constexpr const char* log_name = "leader.log";
/// The socket on which ranks send descriptors of stubs (stub_socket.hpp).
inline constexpr const char* socket_name = "stubs";
/// Empty. A command that waits for commits makes it, and the leader removes it and holds no set back (flush=).
inline constexpr const char* flush_name = "flush";

inline constexpr const char* names[] = {summary_name, unfinished_summary_name, log_name,
                                        socket_name, flush_name};

/// Traces of drains (aggregation/commit/trace_file): a number follows the prefix. A trace that is
/// still being written ends in `unfinished_suffix`.
inline constexpr std::string_view trace_prefix = "trace.";
inline constexpr std::string_view unfinished_suffix = ".new";

}  // namespace mcr::restart::leader_files
