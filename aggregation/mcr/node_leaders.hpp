// SPDX-License-Identifier: BSD-3-Clause
// Leaders as a job step of their own: schedulers kill all processes of a step when the step ends, a leader
// that a rank has started among them. docs/design/leader.md, "Residents".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aggregation/mcr/background_program.hpp"
#include "aggregation/mcr/node_answers.hpp"
#include "aggregation/mcr/time_limit.hpp"
#include "codecs/base/result.hpp"

namespace mcr::aggregation {

/// The allocation in which this process runs, outside of any step of ranks: in a batch script, for one.
struct Allocation {
  std::string scheduler;
  /// The number of nodes of each component: several in a heterogeneous job.
  std::vector<unsigned> components;

  [[nodiscard]] unsigned nodes() const;
};
/// Returns how many nodes of the allocation live.
unsigned count_living_nodes(const Allocation& allocation);
/// Nothing where no scheduler is known by its variables, or if this process is part of a step of ranks.
std::optional<Allocation> find_allocation();
/// The same; Cause::usage where find_allocation() returns nothing.
Result<Allocation> own_allocation();
/// True if this process is part of a step of ranks.
bool is_in_step();
/// True if the program is the scheduler's, and starts ranks on nodes of an allocation.
bool is_step_client(const std::string& program);
/// Returns why the ranks that `command` starts do not get the connector's variables from the scheduler's
/// client; empty if nothing is known.
std::string why_variables_are_missing(const std::vector<std::string>& command);

/// Returns when the Slurm job ends at its time limit, in seconds since 1970. Slurm sets SLURM_JOB_END_TIME
/// only from version 23.02 on; before, squeue is asked. Nothing outside of a job, or without a limit.
std::optional<std::uint64_t> end_of_slurm_job();

/// How long the processes of a step may take until they answer.
inline constexpr std::uint64_t leaders_start_ms = 60'000;

/// A step with one process per node of the allocation: `mcr WORDS…`, which answers by node_answers.hpp.
class NodeStep {
 public:
  using Input = BackgroundProgram::Input;
  using Errors = BackgroundProgram::Errors;
  /// Starts the step beside the steps that run on the nodes.
  static Result<NodeStep> start(const Allocation& allocation, std::vector<std::string> words,
                                Input input, Errors errors = Errors::kept);

  /// Waits until each node has begun or has said that it cannot. An error if no node has begun, if the step ends
  /// before, or at the limit.
  Result<void> wait_for_begin(const TimeLimit& limit);
  /// Ends the step's input, if it has one.
  void end_input() { client_.end_input(); }
  /// Waits until the step has ended. False if it still runs at the limit.
  bool wait_for_end(const TimeLimit& limit);
  /// Cancels the step: it must not start after nobody waits for it any more.
  void abandon() { client_.kill(); }

  [[nodiscard]] const NodeAnswers& answers() const { return answers_; }
  /// Lines that are no answers.
  [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }
  [[nodiscard]] unsigned nodes() const { return nodes_; }
  /// True if the step has ended and each node has said how.
  [[nodiscard]] bool has_all_answers() const { return answers_.ended() >= nodes_; }
  /// The status that the step's client returned; nothing if it runs.
  [[nodiscard]] std::optional<int> client_status() { return client_.status(); }
  /// Returns which nodes have not said how they ended: by name if they had begun.
  [[nodiscard]] std::string silent_nodes() const;
  /// Prints what the step has written to its standard error, if it was kept.
  void print_errors();

 private:
  void look();

  unsigned nodes_ = 0;
  BackgroundProgram client_;
  std::string unfinished_;  ///< the line that has not ended yet
  NodeAnswers answers_;
  std::vector<std::string> lines_;
};

/// Names the nodes that could not begin, and the reasons, in messages of `mcr COMMAND`.
void print_nodes_without_leaders(NodeStep& step, std::string_view command);

}  // namespace mcr::aggregation
