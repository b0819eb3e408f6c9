// SPDX-License-Identifier: BSD-3-Clause
// What the lowest rank of a node prints at the job's end: the summary line, the files that are native, and
// trouble with storage or renamed files.
#pragma once

#include "restart/format/launch_summary.hpp"
#include "restart/format/native_counts.hpp"
#include "vol/process/process.hpp"

namespace mcr::vol {

/// How long the program has waited for capture.
struct WaitedTime {
  std::uint64_t all_ns = 0;
  std::uint64_t for_commits_ns = 0;  ///< of it, because of lag=
};

/// The leader's summary, as it stands in the stage.
restart::LaunchSummary summary_of(const JobStage& stage);
/// Returns the count for all ranks of the node, as `mcr status` shows it.
std::size_t uncommitted_on_node(const JobStage& stage);
/// Returns the files that the leader put back.
restart::NativeCounts put_back_in(const restart::LaunchSummary& summary);

/// Prints the summary line, unless another node prints it, and what is native and why.
void print_summary(JobStage& stage, const WaitedTime& waited,
                   const restart::NativeCounts& put_back);

/// Warns that the job waits for full storage, because the job would seem to hang. The warning
/// contains the reason, because the leader's log is removed with the launch's directory as soon as
/// storage has room.
void tell_of_wait(const JobStage& stage);
/// Reports files that were renamed before their commit and that the leader did not find.
void tell_of_astray_files(const JobStage& stage);
/// Reports files that were restored natively after a failed commit, because the user asked for
/// captured ones.
void tell_of_native_files(JobStage& stage);

}  // namespace mcr::vol
