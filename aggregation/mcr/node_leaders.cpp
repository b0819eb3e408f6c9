// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/mcr/node_leaders.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <string_view>

#include "aggregation/mcr/surroundings.hpp"
#include "restart/base/system.hpp"

namespace mcr::aggregation {
namespace {

using restart::File;
using restart::system_error;

constexpr std::uint64_t look_ms = 20;
constexpr const char* end_of_job = "SLURM_JOB_END_TIME";

/// One row per scheduler. `NODES` in the words stands for the number of nodes.
struct Scheduler {
  const char* name;
  const char* job;    ///< the variable with the job's number
  const char* step;   ///< set in processes of a step
  const char* nodes;  ///< the variable with the number of nodes
  std::array<const char*, 8> words;
  /// Options of the job that a small step beside others must not inherit.
  std::array<std::string_view, 16> left_out;
  std::array<const char*, 2> added;
};

/// Slurm: the variable SLURM_OVERLAP, because older versions refuse the option; 22.05 ignores
/// --ntasks-per-node where SLURM_NTASKS is set. --mem=0: the memory is the job's, shared with its steps.
constexpr std::array schedulers{
    Scheduler{"Slurm",
              "SLURM_JOB_ID",
              "SLURM_STEP_ID",
              "SLURM_JOB_NUM_NODES",
              {"srun", "--mpi=none", "--nodes=NODES", "--ntasks=NODES", "--cpus-per-task=1",
               "--mem=0", "--kill-on-bad-exit=0", "--wait=0"},
              {"SLURM_NTASKS", "SLURM_NPROCS", "SLURM_TASKS_PER_NODE", "SLURM_CPUS_PER_",
               "SLURM_MEM_", "SLURM_GPU", "SLURM_GRES", "SLURM_TRES_", "SLURM_DISTRIBUTION",
               "SLURM_HINT", "SLURM_THREADS_PER_CORE", "SLURM_CORE_SPEC", "SLURM_EXACT",
               "SLURM_EXCLUSIVE", "SLURM_MPI_TYPE", "SLURM_CPU_BIND"},
              {"SLURM_OVERLAP=1", "SLURM_WHOLE=0"}}};

std::vector<std::string> environment_for(const Scheduler& scheduler) {
  std::vector<std::string> kept = original_environment();
  std::erase_if(kept, [&](const std::string& entry) {
    return std::any_of(
        scheduler.left_out.begin(), scheduler.left_out.end(),
        [&](std::string_view name) { return !name.empty() && entry.starts_with(name); });
  });
  for (const char* entry : scheduler.added)
    if (entry != nullptr) kept.emplace_back(entry);
  // For the leaders (deadline=).
  if (original_variable(end_of_job).empty())
    if (const auto end = end_of_slurm_job())
      kept.push_back(std::string(end_of_job) + "=" + std::to_string(*end));
  return kept;
}

std::vector<std::string> client_words(const Scheduler& scheduler, unsigned nodes) {
  constexpr std::string_view hole = "NODES";
  std::vector<std::string> words;
  for (const char* entry : scheduler.words) {
    if (entry == nullptr) continue;
    std::string word = entry;
    if (const auto at = word.find(hole); at != std::string::npos)
      word.replace(at, hole.size(), std::to_string(nodes));
    words.push_back(std::move(word));
  }
  return words;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> list;
  for (std::string& word : words) list.push_back(word.data());
  list.push_back(nullptr);
  return list;
}

struct Pipe {
  File read, write;
};
Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return system_error("cannot make a pipe", {});
  return Pipe{File(ends[0], "pipe"), File(ends[1], "pipe")};
}

}  // namespace

std::optional<Allocation> find_allocation() {
  for (const Scheduler& scheduler : schedulers) {
    const std::string job = original_variable(scheduler.job);
    if (job.empty() || !original_variable(scheduler.step).empty()) continue;
    Allocation found{scheduler.name, job, 1};
    const std::string nodes = original_variable(scheduler.nodes);
    (void)std::from_chars(nodes.data(), nodes.data() + nodes.size(), found.nodes);
    return found;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> end_of_slurm_job() {
  const std::string job = original_variable("SLURM_JOB_ID");
  if (job.empty() || job.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  std::string text = original_variable(end_of_job);
  if (text.empty())
    text = output_of("SLURM_TIME_FORMAT=%s timeout 10 squeue -h -o %e -j " + job + " 2> /dev/null");
  std::uint64_t seconds = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), seconds);
  return parsed.ec == std::errc() ? std::optional(seconds) : std::nullopt;
}

Result<Allocation> own_allocation() {
  if (auto found = find_allocation()) return *std::move(found);
  return Error{
      Cause::usage,
      "this works only in a Slurm batch script or an `salloc` shell, and not in a job step"};
}

Result<NodeStep> NodeStep::start(const Allocation& allocation, std::vector<std::string> words,
                                 Input input, Output output) {
  const auto* const scheduler =
      std::find_if(schedulers.begin(), schedulers.end(),
                   [&](const Scheduler& row) { return allocation.scheduler == row.name; });
  if (scheduler == schedulers.end())
    return Error{Cause::usage, "no step can be started under " + allocation.scheduler};
  std::vector<std::string> all = client_words(*scheduler, allocation.nodes);
  all.push_back(own_file().empty() ? "mcr" : own_file());
  all.insert(all.end(), words.begin(), words.end());
  std::vector<std::string> variables = environment_for(*scheduler);

  NodeStep step;
  step.nodes_ = allocation.nodes;
  Pipe out = MCR_TRY(make_pipe());
  Pipe in = MCR_TRY(make_pipe());
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  if (input == Input::ends_with_us) {
    ::posix_spawn_file_actions_adddup2(&actions, in.read.descriptor(), STDIN_FILENO);
  } else {
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  }
  if (output == Output::lines)
    ::posix_spawn_file_actions_adddup2(&actions, out.write.descriptor(), STDOUT_FILENO);
  // A session of its own: ^C is for the program.
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  const int failed = ::posix_spawnp(&step.client_, all.front().c_str(), &actions, &attributes,
                                    pointers(all).data(), pointers(variables).data());
  ::posix_spawn_file_actions_destroy(&actions);
  ::posix_spawnattr_destroy(&attributes);
  if (failed != 0) {
    errno = failed;
    return system_error("cannot start", all.front());
  }
  step.output_ = std::move(out.read);
  if (input == Input::ends_with_us) step.input_ = std::move(in.write);
  return step;
}

void NodeStep::abandon() {
  if (client_ <= 0 || status_) return;
  constexpr std::uint64_t patience_ms = 2000;
  (void)::kill(client_, SIGTERM);
  if (wait_for_end(patience_ms)) return;
  (void)::kill(client_, SIGKILL);
  (void)wait_for_end(patience_ms);
}

Result<void> NodeStep::wait_for_lines(std::uint64_t limit_ms) {
  const std::uint64_t end = restart::monotonic_ms() + limit_ms;
  unsigned lines = 0;
  std::array<char, 4096> text{};
  while (lines < nodes_) {
    const std::uint64_t now = restart::monotonic_ms();
    pollfd source{output_.descriptor(), POLLIN, 0};
    if (now >= end || ::poll(&source, 1, static_cast<int>(end - now)) <= 0)
      return Error{Cause::system, std::to_string(lines) + " of " + std::to_string(nodes_) +
                                      " nodes have answered within " +
                                      std::to_string(limit_ms / 1000) + " s"};
    const ssize_t got = ::read(output_.descriptor(), text.data(), text.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Error{Cause::system, "the step ended before each node had answered"};
    lines += static_cast<unsigned>(std::count(text.begin(), text.begin() + got, '\n'));
  }
  return {};
}

std::optional<int> NodeStep::wait_for_end(std::uint64_t limit_ms) {
  const std::uint64_t end = restart::monotonic_ms() + limit_ms;
  while (!status_) {
    int status = 0;
    const pid_t ended = ::waitpid(client_, &status, WNOHANG);
    if (ended == client_)
      status_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    if (ended < 0 && errno != EINTR) status_ = 1;
    if (status_ || restart::monotonic_ms() >= end) break;
    ::poll(nullptr, 0, static_cast<int>(look_ms));
  }
  return status_;
}

}  // namespace mcr::aggregation
