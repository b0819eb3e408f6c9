// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/mcr/node_leaders.hpp"

#include <poll.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <numeric>
#include <string_view>

#include "aggregation/mcr/print.hpp"
#include "aggregation/mcr/surroundings.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"

namespace mcr::aggregation {
namespace {

using restart::File;
using restart::system_error;

constexpr int look_ms = 20;
constexpr const char* end_of_job = "SLURM_JOB_END_TIME";
constexpr std::string_view node_count = "NODES";
constexpr std::string_view component_number = "COMPONENT";

/// One row per scheduler. In the words, NODES stands for the number of nodes, COMPONENT for the number of a
/// component of a heterogeneous job.
struct Scheduler {
  const char* name;
  const char* job;   ///< the variable with the job's number
  const char* step;  ///< set in processes of a step
  /// Steps without ranks, in which a user's shell may run: an interactive step, the batch script, ssh.
  std::array<std::string_view, 3> shells;
  const char* nodes;       ///< the variable with the number of nodes
  const char* components;  ///< the variable with the number of components
  const char*
      component_nodes;  ///< the beginning of a variable's name: a component's number of nodes
  const char* client;
  std::array<const char*, 9> words;
  const char* component;  ///< the option that names a component
  /// The client takes options from the environment. Those of the job, and those of the user for the
  /// program's steps, are not for this step: variables with these beginnings are removed …
  std::array<std::string_view, 2> removed;
  /// … except those with these beginnings, which tell where job and scheduler are.
  std::array<std::string_view, 8> kept;
  std::array<const char*, 2> added;
};

/// Slurm: the variable SLURM_OVERLAP, because older versions refuse the option; 22.05 ignores
/// --ntasks-per-node where SLURM_NTASKS is set. --mem=0: the memory is the job's, shared with its steps.
/// --no-kill: one node's death must not end the leaders of the others. --export: `sbatch --export=NONE` would
/// keep the settings (MCR_…) from the leaders.
constexpr std::array schedulers{
    Scheduler{"Slurm",
              "SLURM_JOB_ID",
              "SLURM_STEP_ID",
              {"4294967290", "4294967291", "4294967292"},
              "SLURM_JOB_NUM_NODES",
              "SLURM_HET_SIZE",
              "SLURM_JOB_NUM_NODES_HET_GROUP_",
              "srun",
              {"--mpi=none", "--nodes=NODES", "--ntasks=NODES", "--cpus-per-task=1", "--mem=0",
               "--kill-on-bad-exit=0", "--wait=0", "--no-kill", "--export=ALL"},
              "--het-group=COMPONENT",
              {"SLURM_", "SRUN_"},
              {"SLURM_CONF", "SLURM_JOB_", "SLURM_JOBID", "SLURM_HET_", "SLURM_CLUSTER",
               "SLURM_WORKING_CLUSTER", "SLURM_JWT", "SLURM_SACK_"},
              {"SLURM_OVERLAP=1", "SLURM_WHOLE=0"}}};

bool begins_with_any(std::string_view entry, const auto& beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](std::string_view one) { return entry.starts_with(one); });
}

const Scheduler* scheduler_here() {
  const auto* const found =
      std::find_if(schedulers.begin(), schedulers.end(),
                   [](const Scheduler& row) { return !original_variable(row.job).empty(); });
  return found == schedulers.end() ? nullptr : found;
}

bool is_in_step_of(const Scheduler& scheduler) {
  const std::string step = original_variable(scheduler.step);
  return !step.empty() && std::find(scheduler.shells.begin(), scheduler.shells.end(), step) ==
                              scheduler.shells.end();
}

std::vector<std::string> environment_for(const Scheduler& scheduler) {
  std::vector<std::string> entries = original_environment();
  std::erase_if(entries, [&](const std::string& entry) {
    return begins_with_any(entry, scheduler.removed) && !begins_with_any(entry, scheduler.kept);
  });
  for (const char* entry : scheduler.added) entries.emplace_back(entry);
  // For the leaders (deadline=).
  if (original_variable(end_of_job).empty())
    if (const auto end = end_of_slurm_job())
      entries.push_back(std::string(end_of_job) + "=" + std::to_string(*end));
  return entries;
}

std::string filled(std::string word, std::string_view placeholder, unsigned number) {
  if (const auto at = word.find(placeholder); at != std::string::npos)
    word.replace(at, placeholder.size(), std::to_string(number));
  return word;
}

/// Returns the client's command line, which starts `words` on each node of each component.
std::vector<std::string> client_words(const Scheduler& scheduler, const Allocation& allocation,
                                      const std::vector<std::string>& words) {
  std::vector<std::string> all{scheduler.client};
  for (unsigned number = 0; number < allocation.components.size(); ++number) {
    if (number > 0) all.emplace_back(":");
    if (allocation.components.size() > 1)
      all.push_back(filled(scheduler.component, component_number, number));
    for (const char* word : scheduler.words)
      all.push_back(filled(word, node_count, allocation.components[number]));
    all.push_back(own_file().empty() ? "mcr" : own_file());
    all.insert(all.end(), words.begin(), words.end());
  }
  return all;
}

unsigned number_in_variable(const std::string& name, unsigned otherwise) {
  const std::string text = original_variable(name);
  unsigned number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  return parsed.ec == std::errc() && number > 0 ? number : otherwise;
}

/// The text becomes part of a shell's command.
bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

/// Returns the allocation without nodes that have died since the job's start (`--no-kill`): a step that
/// asks for them waits for ever. Slurm's range of nodes (--nodes=1-N) is no way out: after such tries
/// slurmctld 22.05 did not answer.
Allocation living_nodes(Allocation allocation) {
  const std::string job = original_variable("SLURM_JOB_ID");
  if (allocation.components.size() > 1 || !is_number(job)) return allocation;
  const std::string text = output_of("timeout 10 squeue -h -o %D -j " + job + " 2> /dev/null");
  unsigned nodes = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), nodes);
  if (parsed.ec == std::errc() && nodes > 0 && nodes < allocation.components.front())
    allocation.components = {nodes};
  return allocation;
}

}  // namespace

unsigned Allocation::nodes() const {
  return std::accumulate(components.begin(), components.end(), 0U);
}

unsigned count_living_nodes(const Allocation& allocation) {
  return living_nodes(allocation).nodes();
}

std::optional<Allocation> find_allocation() {
  const Scheduler* const scheduler = scheduler_here();
  if (scheduler == nullptr || is_in_step_of(*scheduler)) return std::nullopt;
  Allocation found{scheduler->name, {}};
  const unsigned components = number_in_variable(scheduler->components, 1);
  for (unsigned number = 0; components > 1 && number < components; ++number)
    found.components.push_back(
        number_in_variable(scheduler->component_nodes + std::to_string(number), 1));
  if (components == 1) found.components = {number_in_variable(scheduler->nodes, 1)};
  return found;
}

bool is_in_step() {
  const Scheduler* const scheduler = scheduler_here();
  return scheduler != nullptr && is_in_step_of(*scheduler);
}

bool is_step_client(const std::string& program) {
  return std::any_of(schedulers.begin(), schedulers.end(),
                     [&](const Scheduler& row) { return restart::name_of(program) == row.client; });
}

std::string why_variables_are_missing(const std::vector<std::string>& command) {
  constexpr std::string_view option = "--export=";
  constexpr std::string_view everything = "ALL";
  std::string value = original_variable("SLURM_EXPORT_ENV");
  std::string source = "SLURM_EXPORT_ENV=" + value;
  for (const std::string& word : command) {
    if (!word.starts_with(option)) continue;
    source = word;
    value = word.substr(option.size());
    break;
  }
  const bool is_passed = value.empty() || value.starts_with(everything) ||
                         value.find("HDF5_VOL_CONNECTOR") != std::string::npos;
  if (command.empty() || !is_step_client(command.front()) || is_passed) return {};
  return source +
         " keeps HDF5_VOL_CONNECTOR and HDF5_PLUGIN_PATH from the ranks: add --export=ALL to srun";
}

std::optional<std::uint64_t> end_of_slurm_job() {
  const std::string job = original_variable("SLURM_JOB_ID");
  if (!is_number(job)) return std::nullopt;
  std::string text = original_variable(end_of_job);
  if (text.empty())
    text = output_of("SLURM_TIME_FORMAT=%s timeout 10 squeue -h -o %e -j " + job + " 2> /dev/null");
  std::uint64_t seconds = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), seconds);
  return parsed.ec == std::errc() ? std::optional(seconds) : std::nullopt;
}

Result<Allocation> own_allocation() {
  if (auto found = find_allocation()) return *std::move(found);
  return Error{Cause::usage,
               is_in_step()
                   ? "this process runs inside a job step of ranks; type this in the batch "
                     "script or in the shell of `salloc`"
                   : "this works only in a job of Slurm: in a batch script or in the shell "
                     "of `salloc`"};
}

Result<NodeStep> NodeStep::start(const Allocation& allocation, std::vector<std::string> words,
                                 Input input, Errors errors) {
  const auto* const scheduler =
      std::find_if(schedulers.begin(), schedulers.end(),
                   [&](const Scheduler& row) { return allocation.scheduler == row.name; });
  if (scheduler == schedulers.end())
    return Error{Cause::usage, "no step can be started under " + allocation.scheduler};
  const Allocation living = living_nodes(allocation);
  std::vector<std::string> all = client_words(*scheduler, living, words);
  std::vector<std::string> variables = environment_for(*scheduler);

  NodeStep step;
  step.nodes_ = living.nodes();
  step.client_ = MCR_TRY(BackgroundProgram::start(all, variables, input, errors));
  return step;
}

/// Takes the lines that the step has printed, then looks whether its client has ended.
void NodeStep::look() {
  // The client's end is noticed first, so that all that it has printed is taken afterwards.
  (void)client_.status();
  unfinished_ += client_.take_output();
  for (std::size_t end; (end = unfinished_.find('\n')) != std::string::npos;) {
    std::string line = unfinished_.substr(0, end);
    unfinished_.erase(0, end + 1);
    if (!answers_.take(line)) lines_.push_back(std::move(line));
  }
}

Result<void> NodeStep::wait_for_begin(const TimeLimit& limit) {
  for (;;) {
    look();
    const std::size_t begun = answers_.by_node().size();
    if (begun >= nodes_) {
      const auto has_begun = [](const NodeAnswer& answer) { return answer.has_begun; };
      if (!answers_.names(has_begun).empty()) return {};
      return Error{Cause::system, "leaders can be started on none of the nodes"};
    }
    if (client_.status())
      return Error{Cause::system, "the step ended before each node had answered"};
    if (limit.left_ms() == 0)
      return Error{Cause::system, std::to_string(begun) + " of " + std::to_string(nodes_) +
                                      " nodes have answered in time"};
    ::poll(nullptr, 0, look_ms);
  }
}

bool NodeStep::wait_for_end(const TimeLimit& limit) {
  for (;;) {
    look();
    if (client_.status()) return true;
    if (limit.left_ms() == 0) return false;
    ::poll(nullptr, 0, look_ms);
  }
}

std::string NodeStep::silent_nodes() const {
  std::string names = answers_.names([](const NodeAnswer& answer) { return !answer.status; });
  const std::size_t begun = answers_.by_node().size();
  if (begun < nodes_) {
    const std::size_t others = nodes_ - begun;
    names += (names.empty() ? "" : ", ") + std::to_string(others) + (begun > 0 ? " other" : "") +
             (others == 1 ? " node" : " nodes");
  }
  return names;
}

void NodeStep::print_errors() {
  std::string text = client_.errors();
  while (!text.empty()) {
    const std::string line = text.substr(0, text.find('\n'));
    text.erase(0, line.size() + 1);
    if (!line.empty()) print_line(stderr, "%s", line.c_str());
  }
}

void print_nodes_without_leaders(NodeStep& step, std::string_view command) {
  const std::string nodes = step.answers().never_begun();
  if (nodes.empty()) return;
  step.print_errors();
  print_line(stderr,
             "mcr %.*s: no leaders of their own on %s, so files that are not committed when a job "
             "step ends stay in the memory there",
             static_cast<int>(command.size()), command.data(), nodes.c_str());
}

}  // namespace mcr::aggregation
