// SPDX-License-Identifier: BSD-3-Clause
#include "restart/base/limits.hpp"

#include <fcntl.h>
#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>

#include "restart/base/file.hpp"
#include "restart/base/system.hpp"

namespace mcr::restart {
namespace {

constexpr std::size_t max_file_bytes = 256 * 1024;
/// Control groups of version 1 report "no limit" as a number near 2^63, rounded to pages.
constexpr std::uint64_t no_limit = std::uint64_t{1} << 60;

std::string text_of(const std::string& name) {
  const auto content = read_file(AT_FDCWD, name, max_file_bytes);
  return content ? std::string(as_text(*content)) : std::string();
}

std::optional<std::uint64_t> number_in(std::string_view text) {
  std::uint64_t value = 0;
  const std::size_t begin = std::min(text.find_first_not_of(" \t"), text.size());
  const auto [end, problem] =
      std::from_chars(text.data() + begin, text.data() + text.size(), value);
  if (problem != std::errc()) return std::nullopt;  // "max", "-1", nothing
  return value;
}

/// The number behind `key` at the beginning of a line: "MemAvailable:   123 kB", "inactive_file
/// 123".
std::optional<std::uint64_t> number_of(std::string_view lines, std::string_view key) {
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(lines.size(), line.size() + 1));
    if (!line.starts_with(key)) continue;
    const std::string_view rest = line.substr(key.size());
    if (!rest.empty() && (rest.front() == ' ' || rest.front() == ':')) {
      return number_in(rest.substr(1));
    }
  }
  return std::nullopt;
}

/// Returns the directories of the control groups of this process: first its own group, then the
/// groups above. Inside a Linux container the path may be the host's, and only the mount's root is
/// visible.
std::vector<std::string> group_directories(const SystemPlaces& places, bool first_version,
                                           std::string_view controller) {
  const std::string groups = text_of(places.proc + "/self/cgroup");
  std::vector<std::string> directories;
  std::string_view lines = groups;
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(lines.size(), line.size() + 1));
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    std::string path(line.substr(second + 1));
    if (first_version) {
      const std::string wanted = "," + std::string(controller) + ",";
      if (("," + std::string(controllers) + ",").find(wanted) == std::string::npos) continue;
    } else if (!controllers.empty()) {
      continue;
    }
    std::vector<std::string> mounts;
    if (first_version) {
      mounts = {places.cgroup + "/" + std::string(controllers)};
      if (controllers != controller)
        mounts.push_back(places.cgroup + "/" + std::string(controller));
    } else {
      mounts = {places.cgroup, places.cgroup + "/unified"};
    }
    for (const std::string& mount : mounts) {
      std::string group = path;
      while (true) {
        directories.push_back(mount + (group == "/" ? std::string() : group));
        if (group.size() <= 1) break;
        group.resize(group.rfind('/') == std::string::npos ? 0 : group.rfind('/'));
        if (group.empty()) group = "/";
      }
    }
  }
  return directories;
}

/// Lowers `limits` by the limit of one group. The group's usage includes caches, which the kernel
/// can reclaim.
void restrict_by_group(MemoryLimits& limits, const std::string& limit_file,
                       const std::string& usage_file, const std::string& statistics_file,
                       const char* prefix) {
  const auto limit = number_in(text_of(limit_file));
  if (!limit || *limit >= no_limit) return;
  limits.limit = std::min(limits.limit, *limit);
  const std::uint64_t usage = number_in(text_of(usage_file)).value_or(0);
  const std::string statistics = text_of(statistics_file);
  std::uint64_t caches = 0;
  for (const char* kind : {"inactive_file", "active_file"}) {
    caches += number_of(statistics, std::string(prefix) + kind).value_or(0);
  }
  const std::uint64_t held = usage - std::min(usage, caches);
  limits.available = std::min(limits.available, *limit - std::min(*limit, held));
}

}  // namespace

MemoryLimits memory_limits(const SystemPlaces& places) {
  const std::string memory = text_of(places.proc + "/meminfo");
  const auto total = number_of(memory, "MemTotal");
  const auto available = number_of(memory, "MemAvailable");
  if (!total) return {};
  MemoryLimits limits{*total * 1024, available.value_or(*total) * 1024};
  for (const std::string& group : group_directories(places, false, "memory")) {
    restrict_by_group(limits, group + "/memory.max", group + "/memory.current",
                      group + "/memory.stat", "");
    // Above memory.high the kernel slows the group down until it has given memory back. For a
    // solver that is as bad as memory.max.
    restrict_by_group(limits, group + "/memory.high", group + "/memory.current",
                      group + "/memory.stat", "");
  }
  for (const std::string& group : group_directories(places, true, "memory")) {
    restrict_by_group(limits, group + "/memory.limit_in_bytes", group + "/memory.usage_in_bytes",
                      group + "/memory.stat", "total_");
  }
  return limits;
}

std::vector<unsigned> allowed_cpus() {
  // The kernel refuses a mask shorter than its own, which may cover thousands of CPUs.
  std::vector<unsigned> cpus;
  for (std::size_t count = 1024; count <= (std::size_t{1} << 20); count *= 4) {
    cpu_set_t* set = CPU_ALLOC(count);
    if (set == nullptr) return cpus;
    const std::size_t bytes = CPU_ALLOC_SIZE(count);
    const bool known = ::sched_getaffinity(0, bytes, set) == 0;
    for (unsigned cpu = 0; known && cpu < count; ++cpu) {
      if (CPU_ISSET_S(cpu, bytes, set)) cpus.push_back(cpu);
    }
    CPU_FREE(set);
    if (known) break;
  }
  return cpus;
}

unsigned usable_cpu_count(const SystemPlaces& places) {
  std::uint64_t count = std::max<std::size_t>(allowed_cpus().size(), 1);
  const auto restrict = [&count](std::uint64_t quota, std::uint64_t period) {
    if (period != 0) count = std::min(count, (quota + period - 1) / period);
  };
  for (const std::string& group : group_directories(places, false, "cpu")) {
    const std::string text = text_of(group + "/cpu.max");
    const auto quota = number_in(text);
    const std::size_t blank = text.find(' ');
    if (!quota || blank == std::string::npos) continue;
    restrict(*quota, number_in(std::string_view(text).substr(blank)).value_or(0));
  }
  for (const std::string& group : group_directories(places, true, "cpu")) {
    const auto quota = number_in(text_of(group + "/cpu.cfs_quota_us"));
    if (quota) restrict(*quota, number_in(text_of(group + "/cpu.cfs_period_us")).value_or(0));
  }
  return static_cast<unsigned>(std::max<std::uint64_t>(count, 1));
}

Result<std::uint64_t> free_space(int descriptor) {
  struct statvfs status {};
  if (system_calls().fstatvfs(descriptor, &status) != 0) {
    return system_error("cannot determine the free space", {});
  }
  return static_cast<std::uint64_t>(status.f_bavail) * status.f_frsize;
}

std::uint64_t automatic_stage_limit(int descriptor, std::uint64_t stage_bytes,
                                    const SystemPlaces& places) {
  struct statvfs status {};
  if (system_calls().fstatvfs(descriptor, &status) != 0) return 0;
  const std::uint64_t file_system = static_cast<std::uint64_t>(status.f_blocks) * status.f_frsize;
  const MemoryLimits memory = memory_limits(places);
  // The stage's bytes count as available, because the stage uses them now. If the stage is not in
  // memory, this overestimates.
  const std::uint64_t without_stage = std::min(memory.limit, memory.available + stage_bytes);
  return std::min(file_system, without_stage) / 2;
}

}  // namespace mcr::restart
