// SPDX-License-Identifier: BSD-3-Clause
// The plugin for Slurm's SPANK interface: plain `srun` gets what `mcr run` gives.
//
//   slurmd starts                                   marks that it has loaded the plugin, and so runs it at jobs' ends
//   a step begins whose HDF5_VOL_CONNECTOR is mcr   slurmstepd, before any task runs: starts the job's resident on
//                                                   this node if none serves, and waits until it listens
//   the job ends                                    slurmd's epilog: tells the residents to end, waits until all is
//                                                   committed, and kills what is left after `end_wait`
//
// Slurm has put the task's process into the job's mount namespace (job_container/tmpfs) before
// task_init_privileged, so the resident is started from there: it sees the job's own /dev/shm.
//
// A failure here never fails a step or drains a node: all functions return success, and the ranks then
// start leaders themselves.
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <charconv>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>

#include "aggregation/slurm/job_groups.hpp"
#include "aggregation/slurm/job_record.hpp"
#include "aggregation/slurm/resident_start.hpp"

extern "C" {
#include <slurm/spank.h>
// Constants of C++ are known in their own file only, unless they are declared so.
extern const char plugin_name[];
extern const char plugin_type[];
extern const unsigned int plugin_version;
extern const unsigned int spank_plugin_version;
SPANK_PLUGIN(mcr, 1)
}

namespace mcr::aggregation {
namespace {

constexpr std::size_t most_proc_bytes = 4U << 20;
constexpr unsigned look_ms = 20;
constexpr unsigned kill_wait_ms = 500;
constexpr unsigned most_kills = 5;
constexpr unsigned second_ms = 1000;
constexpr unsigned most_s = 24 * 3600;  ///< of start_wait= and end_wait=

/// Words after the plugin's path in plugstack.conf.
struct Options {
  std::string command;  ///< command=PATH; default: the mcr that was installed with this plugin
  unsigned start_wait_s = 5;  ///< start_wait=SECONDS
  unsigned end_wait_s = 60;   ///< end_wait=SECONDS
};

bool take_number(std::string_view word, std::string_view key, unsigned& into) {
  if (!word.starts_with(key)) return false;
  word.remove_prefix(key.size());
  unsigned value = 0;
  const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), value);
  const bool is_number = problem == std::errc() && end == word.data() + word.size();
  if (is_number && value <= most_s) into = value;
  return is_number && value <= most_s;
}

std::string installed_command() {
  Dl_info place{};
  if (::dladdr(plugin_name, &place) == 0 || place.dli_fname == nullptr) return {};
  char* const self = ::realpath(place.dli_fname, nullptr);
  std::string path = self == nullptr ? std::string() : self;
  ::free(self);
  path = path.substr(0, path.rfind('/') + 1) + MCR_COMMAND_FROM_SLURM;
  char* const command = ::realpath(path.c_str(), nullptr);
  path = command == nullptr ? std::string() : command;
  ::free(command);
  return path;
}

Options options_of(int count, char* const* words) {
  Options options;
  for (int number = 0; number < count; ++number) {
    const std::string_view word = words[number];
    constexpr std::string_view command = "command=";
    if (word.starts_with(command)) {
      options.command = word.substr(command.size());
    } else if (!take_number(word, "start_wait=", options.start_wait_s) &&
               !take_number(word, "end_wait=", options.end_wait_s)) {
      slurm_error(
          "mcr: plugstack.conf: '%s' is ignored; allowed: command=PATH start_wait=SECONDS "
          "end_wait=SECONDS, with at most %u s",
          words[number], most_s);
    }
  }
  if (options.command.empty()) options.command = installed_command();
  return options;
}

/// What a step's resident needs, as far as it is known before the job's control groups are.
struct Plan {
  Options options;
  ResidentStart start;
  std::string address;  ///< see address_of()
  std::uint32_t job = 0;
};

/// The start of a resident, from a step's first hook to its last one. In a process of slurmstepd, and
/// in those that it forks for the tasks.
struct Starting {
  Plan plan;
  JobRecord record;
  Descriptor fifo, ready_read, ready_write;
};
constinit Starting* starting = nullptr;

void forget() {
  delete starting;
  starting = nullptr;
}

template <typename Item>
std::optional<Item> item_of(spank_t spank, spank_item_t item) {
  Item value{};
  if (spank_get_item(spank, item, &value) != ESPANK_SUCCESS) return std::nullopt;
  return value;
}

/// Nothing if Slurm does not say who the user is: a missing number must never stand for root's.
std::optional<JobUser> user_of(spank_t spank) {
  const auto user = item_of<uid_t>(spank, S_JOB_UID);
  const auto group = item_of<gid_t>(spank, S_JOB_GID);
  gid_t* groups = nullptr;
  int count = 0;
  if (!user || !group ||
      spank_get_item(spank, S_JOB_SUPPLEMENTARY_GIDS, &groups, &count) != ESPANK_SUCCESS) {
    return std::nullopt;
  }
  return JobUser{*user, *group, {groups, groups + (groups == nullptr ? 0 : count)}};
}

const char* value_of(const char* const* environment, std::string_view name) {
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    if (entry.starts_with(name) && entry.substr(name.size()).starts_with("="))
      return *environment + name.size() + 1;
  }
  return nullptr;
}

/// Ranks find their resident by the SLURM_JOB_ID that they see. In a heterogeneous job it is not the number
/// of their part of the job.
std::string job_name(const char* const* environment, std::uint32_t job) {
  const char* const given = value_of(environment, "SLURM_JOB_ID");
  const std::string_view text = given == nullptr ? "" : given;
  constexpr std::size_t most_digits = 20;
  const bool is_number = !text.empty() && text.size() <= most_digits &&
                         text.find_first_not_of("0123456789") == std::string_view::npos;
  return is_number ? std::string(text) : std::to_string(job);
}

/// Returns the variables that decide where a resident listens. Steps in which they are equal share one.
std::string address_of(const char* const* environment) {
  std::string text;
  for (const char* name :
       {"HDF5_VOL_CONNECTOR", "MCR_STAGE", "MCR_NODE", "HOME", "XDG_CONFIG_HOME", "SLURM_JOB_ID"}) {
    const char* const value = value_of(environment, name);
    text += std::string(name) + "=" + (value == nullptr ? "" : value) + "\n";
  }
  return text;
}

/// Nothing if the step does not use mcr, or no resident can be started for it; slurmd's log then says why.
std::optional<Plan> plan_of(spank_t spank, int count, char* const* words) {
  const char* const* const environment = item_of<char**>(spank, S_JOB_ENV).value_or(nullptr);
  if (!is_ours(value_of(environment, "HDF5_VOL_CONNECTOR"))) return std::nullopt;
  const auto job = item_of<std::uint32_t>(spank, S_JOB_ID);
  const auto user = user_of(spank);
  if (!job || !user) {
    slurm_error("mcr: no resident was started, because Slurm does not name the job and its user");
    return std::nullopt;
  }
  Plan plan;
  plan.job = *job;
  plan.options = options_of(count, words);
  if (!does_slurmd_run_plugin()) {
    slurm_error(
        "mcr: job %u: no resident was started, because slurmd was started before the plugin was "
        "installed, and would not end the resident with the job: restart slurmd",
        *job);
    return std::nullopt;
  }
  if (plan.options.command.empty()) {
    slurm_error(
        "mcr: no resident was started, because the command mcr is not installed with this plugin; "
        "give its path in plugstack.conf (command=PATH)");
    return std::nullopt;
  }
  auto passed = resident_environment(environment, job_name(environment, *job));
  if (!passed) {
    slurm_info("mcr: job %u: no resident was started, because the user's settings exceed 64 KiB",
               *job);
    return std::nullopt;
  }
  plan.start.command = plan.options.command;
  plan.start.environment = *std::move(passed);
  plan.start.user = *user;
  plan.start.mask = umask_of(environment);
  plan.address = address_of(environment);
  return plan;
}

/// Locks the job's record until wait_for_resident(), so that only this step starts a resident. Does nothing if
/// a resident serves already.
void claim(Plan plan) {
  auto record = JobRecord::make(plan.job);
  if (!record) {
    slurm_error(
        "mcr: job %u: no resident was started, because its record in /run/mcr-slurm cannot be used",
        plan.job);
    return;
  }
  if (!record->lock(plan.options.start_wait_s * second_ms)) {
    slurm_info(
        "mcr: job %u: no resident was started, because another step of the job has been starting "
        "one for %u s",
        plan.job, plan.options.start_wait_s);
    return;
  }
  auto fifo = record->take_fifo(plan.address);
  int ends[2];
  if (!fifo || ::pipe2(ends, O_CLOEXEC) != 0) {
    record->unlock();
    return;
  }
  starting = new Starting{std::move(plan), *std::move(record), *std::move(fifo),
                          Descriptor(ends[0]), Descriptor(ends[1])};
}

/// In slurmstepd, before it forks the tasks.
void prepare(spank_t spank, int count, char* const* words) {
  if (spank_remote(spank) != 1) return;
  if (auto plan = plan_of(spank, count, words)) claim(*std::move(plan));
}

/// In the first task's process: as root, in the job's namespaces.
void start_in_task(spank_t spank) {
  if (starting == nullptr) return;
  Starting& its = *starting;
  if (item_of<int>(spank, S_TASK_ID) == 0) {
    auto groups = find_job_groups(read_text("/proc/self/cgroup", most_proc_bytes),
                                  read_text("/proc/self/mountinfo", most_proc_bytes), its.plan.job);
    if (!groups) {
      // No resident is needed. The answer comes in its place.
      (void)!::write(its.ready_write.get(), "\n", 1);
    } else if (its.record.write_groups(*groups) && make_own_group(*groups)) {
      ResidentStart& start = its.plan.start;
      start.groups = *std::move(groups);
      start.input = its.fifo.get();
      start.output = its.ready_write.get();
      start_resident(start);
    }
  }
  forget();
}

/// Waits until the pipe has bytes or no process can write into it. False after `limit_ms`.
bool has_answer_within(const Descriptor& pipe, std::uint64_t limit_ms) {
  pollfd source{pipe.get(), POLLIN, 0};
  for (std::uint64_t waited_ms = 0; waited_ms < limit_ms; waited_ms += look_ms)
    if (::poll(&source, 1, look_ms) > 0) return true;  // -1: a signal came
  return false;
}

/// In slurmstepd, when all tasks have been forked and none runs yet.
void wait_for_resident() {
  if (starting == nullptr) return;
  Starting& its = *starting;
  its.ready_write.close();
  its.fifo.close();
  char answer = 0;
  if (!has_answer_within(its.ready_read, its.plan.options.start_wait_s * second_ms)) {
    slurm_info(
        "mcr: job %u: the resident has not answered within %u s; ranks start leaders themselves",
        its.plan.job, its.plan.options.start_wait_s);
  } else if (::read(its.ready_read.get(), &answer, 1) <= 0) {
    slurm_info(
        "mcr: job %u: the resident did not start (do the user's settings load? `mcr config` says "
        "so); ranks start leaders themselves",
        its.plan.job);
  }
  its.record.unlock();
  forget();
}

/// Returns true once the group is empty, false after `limit_ms`.
bool is_empty_within(const JobGroups& groups, std::uint64_t limit_ms) {
  for (std::uint64_t waited_ms = 0; !processes_in(groups.own).empty(); waited_ms += look_ms) {
    if (waited_ms >= limit_ms) return false;
    ::poll(nullptr, 0, look_ms);
  }
  return true;
}

void end_job(spank_t spank, int count, char* const* words) {
  const auto number = item_of<std::uint32_t>(spank, S_JOB_ID);
  const auto record = number ? JobRecord::find(*number) : std::nullopt;
  if (!record) return;
  const std::uint32_t job = *number;
  if (const auto groups = record->groups()) {
    const Options options = options_of(count, words);
    const std::uint64_t half_ms = options.end_wait_s * second_ms / 2;
    record->tell_to_end();
    if (!is_empty_within(*groups, half_ms)) {
      terminate(groups->own);
      if (!is_empty_within(*groups, half_ms)) {
        slurm_info(
            "mcr: job %u: leaders that did not end within %u s are killed; if /dev/shm outlives "
            "the job, the user's next job on this node commits their files",
            job, options.end_wait_s);
        bool is_empty = false;
        for (unsigned tries = 0; tries < most_kills && !is_empty; ++tries) {
          kill_all(*groups);
          is_empty = is_empty_within(*groups, kill_wait_ms);
        }
        if (!is_empty)
          slurm_error(
              "mcr: job %u: processes in %s outlive SIGKILL; they probably wait for storage that "
              "hangs",
              job, groups->own.c_str());
      }
    }
    remove(*groups);
  }
  record->remove();
}

/// No exception may reach Slurm.
template <typename Body>
int guarded(const Body& body) {
  try {
    body();
  } catch (...) {
    slurm_error("mcr: out of memory");
  }
  return ESPANK_SUCCESS;
}

}  // namespace
}  // namespace mcr::aggregation

extern "C" {

int slurm_spank_init(spank_t, int, char*[]) {
  return mcr::aggregation::guarded([] {
    if (spank_context() == S_CTX_SLURMD && !mcr::aggregation::mark_slurmd())
      slurm_error("mcr: /run/mcr-slurm cannot be used, so no residents will be started");
  });
}

int slurm_spank_init_post_opt(spank_t spank, int count, char* words[]) {
  return mcr::aggregation::guarded([&] { mcr::aggregation::prepare(spank, count, words); });
}

int slurm_spank_task_init_privileged(spank_t spank, int, char*[]) {
  return mcr::aggregation::guarded([&] { mcr::aggregation::start_in_task(spank); });
}

int slurm_spank_task_post_fork(spank_t, int, char*[]) {
  return mcr::aggregation::guarded([] { mcr::aggregation::wait_for_resident(); });
}

int slurm_spank_job_epilog(spank_t spank, int count, char* words[]) {
  return mcr::aggregation::guarded([&] { mcr::aggregation::end_job(spank, count, words); });
}
}
