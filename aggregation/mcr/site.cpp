// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/mcr/site.hpp"

#include <fcntl.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "aggregation/mcr/node_leaders.hpp"
#include "aggregation/mcr/print.hpp"
#include "aggregation/mcr/surroundings.hpp"
#include "restart/base/file.hpp"
#include "restart/base/limits.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/settings/launcher.hpp"
#include "restart/settings/node_name.hpp"
#include "restart/stage/resident_socket.hpp"

namespace mcr::aggregation {
namespace {

constexpr std::uint64_t small_stage_bytes = 1ULL << 30;
constexpr std::uint64_t step_start_ms = 30'000;
constexpr std::uint64_t little_time_s = 120;

/// Returns the value of `KEY = value` in the output of `scontrol show config`.
std::string value_of(std::string_view config, std::string_view key) {
  const std::size_t line = config.find(key);
  const std::size_t begin = line == std::string_view::npos ? line : config.find("= ", line);
  if (begin == std::string_view::npos) return {};
  const std::string_view rest = config.substr(begin + 2);
  return std::string(rest.substr(0, rest.find_first_of(" \n")));
}

void look_at_slurm(SiteFacts& facts) {
  const auto allocation = find_allocation();
  facts.is_in_slurm_job = std::getenv("SLURM_JOB_ID") != nullptr;
  if (!facts.is_in_slurm_job) return;
  const std::string config = output_of("timeout 10 scontrol show config 2> /dev/null");
  facts.slurm_version = value_of(config, "SLURM_VERSION");
  if (const std::string tracking = value_of(config, "ProctrackType"); !tracking.empty())
    facts.kills_with_step = tracking == "proctrack/cgroup";
  if (allocation) {
    auto step = NodeStep::start(*allocation, {"--version"}, NodeStep::Input::none);
    const bool has_ended = step && step->wait_for_end(TimeLimit(step_start_ms));
    facts.can_overlap = has_ended && step->client_status() == 0;
    if (step && !has_ended) step->abandon();
  }
  const auto end_s = end_of_slurm_job();
  const std::uint64_t now_s = restart::clock_ns(CLOCK_REALTIME) / 1'000'000'000;
  if (end_s && *end_s > now_s) facts.seconds_left = *end_s - now_s;
}

/// Returns the device and root of what is mounted at /dev/shm, as a process sees it; empty if unknown.
std::string shm_mount(const char* mountinfo) {
  constexpr std::size_t most_bytes = 1U << 20;
  const auto mounts = restart::read_file(AT_FDCWD, mountinfo, most_bytes);
  if (!mounts) return {};
  std::string_view text = as_text(*mounts);
  std::string newest;  // the last one covers those before it
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    // Fields: number, parent, device, root, mount point (proc(5)).
    std::array<std::string_view, 5> fields;
    std::string_view rest = line;
    for (std::string_view& field : fields) {
      field = rest.substr(0, rest.find(' '));
      rest.remove_prefix(std::min(rest.size(), field.size() + 1));
    }
    if (fields[4] == "/dev/shm") newest = std::string(fields[2]) + " " + std::string(fields[3]);
  }
  return newest;
}

/// True if the job has a /dev/shm of its own, as Slurm's job_container/tmpfs and namespace/tmpfs make it:
/// it goes with the job.
bool is_shm_private() {
  const std::string ours = shm_mount("/proc/self/mountinfo");
  const std::string node = shm_mount("/proc/1/mountinfo");
  return !ours.empty() && !node.empty() && ours != node;
}

std::string shared_file_system_of(const char* directory) {
  struct statfs status {};
  if (::statfs(directory, &status) != 0) return {};
  switch (static_cast<std::uint32_t>(status.f_type)) {
    case 0x6969:
      return "NFS";
    case 0x0BD00BD0:
      return "Lustre";
    case 0x47504653:
      return "GPFS";
    default:
      return {};
  }
}

}  // namespace

SiteFacts look_at_site(const restart::Settings& settings) {
  const std::string stage(settings.text("stage"));
  SiteFacts facts;
  look_at_slurm(facts);
  facts.has_resident =
      restart::has_resident(stage, {restart::node_name(settings), restart::scheduler_job()});
  facts.is_stage_private = stage.starts_with("/dev/shm/") && is_shm_private();
  struct statvfs space {};
  if (::statvfs(stage.c_str(), &space) == 0 ||
      ::statvfs(restart::parent_of(stage).c_str(), &space) == 0)
    facts.stage_bytes = static_cast<std::uint64_t>(space.f_blocks) * space.f_frsize;
  struct sysinfo memory {};
  if (::sysinfo(&memory) == 0)
    facts.memory_bytes = static_cast<std::uint64_t>(memory.totalram) * memory.mem_unit;
  const std::uint64_t limit = restart::memory_limits().limit;
  if (limit > 0 && limit < facts.memory_bytes) facts.group_bytes = limit;
  facts.file_system = shared_file_system_of(".");
  return facts;
}

std::vector<SiteFinding> judge_site(const SiteFacts& facts) {
  std::vector<SiteFinding> findings;
  const auto good = [&](std::string what) { findings.push_back({true, std::move(what), {}}); };
  const auto note = [&](std::string what, std::string remedy) {
    findings.push_back({false, std::move(what), std::move(remedy)});
  };
  if (facts.is_in_slurm_job) {
    const std::string slurm =
        "Slurm" + (facts.slurm_version.empty() ? "" : " " + facts.slurm_version);
    if (facts.has_resident) {
      good(slurm +
           " does not end the leaders with a job step: a resident starts them outside of it");
    } else if (facts.kills_with_step && *facts.kills_with_step) {
      note(slurm +
               " kills the leaders of a plain srun when its job step ends early: files that are "
               "closed but not committed then stay in the nodes' memory",
           "start the program by `mcr run -- srun …`, or put `mcr leaders start` before the srun");
    } else if (facts.kills_with_step) {
      good(slurm + " lets leaders live when a job step ends");
    }
    if (facts.can_overlap && !*facts.can_overlap) {
      note(
          "no job step can be started beside the program's, so `mcr run` cannot start leaders "
          "that outlive it",
          "ask for SLURM_OVERLAP steps at your centre; until then, run `mcr recover --all-nodes` "
          "after each srun");
    } else if (facts.can_overlap) {
      good("a job step of leaders starts beside the program's");
    }
    if (facts.seconds_left && *facts.seconds_left < little_time_s) {
      note("the job ends in " + std::to_string(*facts.seconds_left) +
               " s: sets that are closed from now on may not be committed",
           "give the job more time");
    }
  }
  if (facts.is_stage_private) {
    note(
        "/dev/shm is private to this job and is removed at its end: files that are not committed "
        "by then are lost",
        "start the program by `mcr run`, which waits for the commits");
  }
  if (facts.stage_bytes > 0 && facts.stage_bytes < small_stage_bytes) {
    note("the stage's file system holds only " + size_text(facts.stage_bytes) +
             ": checkpoints that do not fit are written natively",
         "ask for a larger /dev/shm (containers: --shm-size), or set stage= to another memory file "
         "system");
  }
  if (facts.group_bytes) {
    note("the job's memory limit of " + size_text(*facts.group_bytes) +
             " includes the stage: checkpoints that wait there take memory from the program",
         "ask for the memory of two checkpoints more, or set stage_limit=");
  }
  if (facts.file_system == "NFS") {
    note(
        "the working directory is on NFS, where mcr was not tested with several nodes: renames by "
        "other nodes may be seen late",
        "set close=durable if the program renames files right after their close");
  } else if (!facts.file_system.empty()) {
    good("the working directory is on " + facts.file_system);
  }
  return findings;
}

}  // namespace mcr::aggregation
