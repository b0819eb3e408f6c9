// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/slurm/job_groups.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <iterator>

#include "aggregation/slurm/small_files.hpp"

namespace mcr::aggregation {
namespace {

/// The kernel has at most 2^22 processes. Each takes at most seven digits and a line's end in a list.
constexpr std::size_t most_list_bytes = std::size_t{8} << 22;
constexpr std::size_t most_state_bytes = 4096;
/// A process in an uninterruptible system call does not freeze.
constexpr unsigned most_freeze_ms = 200;
constexpr mode_t group_mode = 0755;
/// A tenth of a step's share, as autogroups give to a leader's session (leader.md, "Priority").
constexpr std::string_view small_weight = "10";

std::string_view next(std::string_view& rest, char separator) {
  const std::string_view part = rest.substr(0, rest.find(separator));
  rest.remove_prefix(std::min(rest.size(), part.size() + 1));
  return part;
}

bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty())
    if (next(list, ',') == word) return true;
  return false;
}

/// Returns the directory of the group `path` in the hierarchy of `controllers` (empty: cgroup v2).
/// Empty if the hierarchy is not mounted.
std::string directory_of(std::string_view path, std::string_view controllers,
                         std::string_view mounts) {
  while (!mounts.empty()) {
    // 30 24 0:26 ROOT PLACE rw,relatime … - cgroup cgroup rw,freezer (proc(5))
    std::string_view line = next(mounts, '\n');
    std::array<std::string_view, 5> fields;
    for (std::string_view& field : fields) field = next(line, ' ');
    const std::size_t end = line.find("- ");
    if (end == std::string_view::npos) continue;
    std::string_view rest = line.substr(end + 2);
    const std::string_view type = next(rest, ' ');
    next(rest, ' ');  // the source
    const bool is_it =
        controllers.empty()
            ? type == "cgroup2"
            : type == "cgroup" && has_word(rest, controllers.substr(0, controllers.find(',')));
    if (!is_it) continue;
    std::string_view below = path;
    if (fields[3] != "/") {
      if (!below.starts_with(fields[3])) continue;
      below.remove_prefix(fields[3].size());
    }
    return std::string(fields[4]) + std::string(below);
  }
  return {};
}

/// Returns the path of the job's group, from the path of a group below it; empty if it is below none.
std::string_view job_part(std::string_view path, std::uint32_t job) {
  const std::string name = "/job_" + std::to_string(job);
  const std::size_t begin = path.find(name);
  if (begin == std::string_view::npos) return {};
  const std::size_t end = begin + name.size();
  return end == path.size() || path[end] == '/' ? path.substr(0, end) : std::string_view();
}

/// Returns the parent of a process; 0 if the process is gone.
pid_t parent_of(pid_t process) {
  const std::string text = read_text("/proc/" + std::to_string(process) + "/stat", 4096);
  // 17 (name) S PARENT: the name may contain anything.
  const std::size_t end = text.rfind(") ");
  if (end == std::string::npos || end + 4 > text.size()) return 0;
  pid_t parent = 0;
  std::from_chars(text.data() + end + 4, text.data() + text.size(), parent);
  return parent;
}

}  // namespace

std::optional<JobGroups> find_job_groups(std::string_view groups, std::string_view mounts,
                                         std::uint32_t job) {
  JobGroups found;
  while (!groups.empty()) {
    // 6:freezer:/slurm_n0/uid_0/job_5/step_0   or   0::/system.slice/slurmstepd.scope/job_5/step_0
    std::string_view path = next(groups, '\n');
    next(path, ':');
    const std::string_view controllers = next(path, ':');
    const std::string_view part = job_part(path, job);
    if (part.empty()) continue;
    std::string directory = directory_of(part, controllers, mounts);
    if (directory.empty()) continue;
    if (controllers.empty() || has_word(controllers, "freezer")) {
      found.own = directory + "/mcr";
      found.is_unified = controllers.empty();
    }
    if (!controllers.empty() && !has_word(controllers, "freezer"))
      found.shared.push_back(std::move(directory));
  }
  if (found.own.empty()) return std::nullopt;
  return found;
}

bool make_own_group(const JobGroups& groups) {
  if (::mkdir(groups.own.c_str(), group_mode) != 0) return errno == EEXIST;
  // Without a CPU controller the file does not exist.
  if (groups.is_unified) (void)write_text(groups.own + "/cpu.weight", small_weight);
  return true;
}

bool join(const JobGroups& groups) {
  for (const std::string& group : groups.shared) (void)write_text(group + "/cgroup.procs", "0");
  return write_text(groups.own + "/cgroup.procs", "0");
}

std::vector<pid_t> processes_in(const std::string& group) {
  const std::string text = read_text(group + "/cgroup.procs", most_list_bytes);
  std::vector<pid_t> found;
  // A number at the end of a list that was cut off may be another process's.
  std::string_view rest = std::string_view(text).substr(0, text.rfind('\n') + 1);
  while (!rest.empty()) {
    const std::string_view line = next(rest, '\n');
    pid_t process = 0;
    std::from_chars(line.data(), line.data() + line.size(), process);
    if (process > 0) found.push_back(process);
  }
  return found;
}

void terminate(const std::string& group) {
  const std::vector<pid_t> all = processes_in(group);
  // All parents are looked up first: the children of a process that has ended have another one.
  std::vector<pid_t> first;
  std::copy_if(all.begin(), all.end(), std::back_inserter(first), [&](pid_t process) {
    return std::find(all.begin(), all.end(), parent_of(process)) == all.end();
  });
  for (const pid_t process : first) (void)::kill(process, SIGTERM);
}

void kill_all(const JobGroups& groups) {
  if (groups.is_unified && write_text(groups.own + "/cgroup.kill", "1")) return;
  // Frozen processes cannot fork. The signals are delivered when they are thawed.
  const std::string freezer =
      groups.own + (groups.is_unified ? "/cgroup.freeze" : "/freezer.state");
  const std::string state = groups.own + (groups.is_unified ? "/cgroup.events" : "/freezer.state");
  const std::string_view frozen = groups.is_unified ? "frozen 1" : "FROZEN";
  (void)write_text(freezer, groups.is_unified ? "1" : "FROZEN");
  for (unsigned waited_ms = 0; waited_ms < most_freeze_ms; ++waited_ms) {
    if (read_text(state, most_state_bytes).find(frozen) != std::string::npos) break;
    ::poll(nullptr, 0, 1);
  }
  for (const pid_t process : processes_in(groups.own)) (void)::kill(process, SIGKILL);
  (void)write_text(freezer, groups.is_unified ? "0" : "THAWED");
}

void remove(const JobGroups& groups) {
  (void)::rmdir(groups.own.c_str());
  (void)::rmdir(groups.own.substr(0, groups.own.rfind('/')).c_str());
  for (const std::string& group : groups.shared) (void)::rmdir(group.c_str());
}

}  // namespace mcr::aggregation
