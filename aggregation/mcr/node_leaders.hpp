// SPDX-License-Identifier: BSD-3-Clause
// Leaders as a job step of their own: schedulers kill all processes of a step when the step ends, a leader
// that a rank has started among them. docs/design/leader.md, "Residents".
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codecs/base/result.hpp"
#include "restart/base/file.hpp"

namespace mcr::aggregation {

/// The allocation in which this process runs, outside of any step: in a batch script, for one.
struct Allocation {
  std::string scheduler;
  std::string job;
  unsigned nodes = 1;
};
/// Nothing where no scheduler is known by its variables, or if this process is part of a step.
std::optional<Allocation> find_allocation();
/// The same; Cause::usage where find_allocation() returns nothing.
Result<Allocation> own_allocation();

/// Returns when the Slurm job ends at its time limit, in seconds since 1970. Slurm sets SLURM_JOB_END_TIME
/// only from version 23.02 on; before, squeue is asked. Nothing outside of a job, or without a limit.
std::optional<std::uint64_t> end_of_slurm_job();

/// How long the processes of a step may take until they answer.
inline constexpr std::uint64_t leaders_start_ms = 60'000;

/// A step with one process per node of the allocation.
class NodeStep {
 public:
  enum class Input : std::uint8_t { none, ends_with_us };
  enum class Output : std::uint8_t { lines, ours };  ///< ours: it goes to our standard output
  /// Starts `mcr WORDS…` on each node, beside the steps that run there. Its standard output is read
  /// by wait_for_lines(), unless `output` says otherwise; its errors go to our standard error.
  static Result<NodeStep> start(const Allocation& allocation, std::vector<std::string> words,
                                Input input, Output output = Output::lines);

  /// Waits until each node has written a line. An error if the step ends before, or at `limit_ms`.
  Result<void> wait_for_lines(std::uint64_t limit_ms);
  /// Ends the step's input, if it has one.
  void end_input() { input_ = restart::File(); }
  /// Returns the largest exit status of the step's processes; nothing if it still runs at `limit_ms`.
  std::optional<int> wait_for_end(std::uint64_t limit_ms);
  /// Cancels the step: it must not start after nobody waits for it any more.
  void abandon();

 private:
  unsigned nodes_ = 0;
  pid_t client_ = -1;
  restart::File input_, output_;
  std::optional<int> status_;
};

}  // namespace mcr::aggregation
