// SPDX-License-Identifier: BSD-3-Clause
// The automatic limit is half of what there is: of the stage's file system and of the memory that
// the process's control group may have, whichever is less. Parts are memory of the group that wrote
// them.
#include "vol/stage_room.hpp"

#include <fcntl.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <charconv>

#include "restart/base/file.hpp"
#include "restart/base/system.hpp"

namespace mcr::vol {

namespace {

// A number in a file of /sys/fs/cgroup; none where it is "max" or not there.
std::uint64_t number_in(const std::string& path) {
  const auto content = restart::read_file(AT_FDCWD, path, 64);
  if (!content) return UINT64_MAX;
  const std::string_view text = as_text(*content);
  std::uint64_t value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  return result.ec == std::errc() ? value : UINT64_MAX;
}

// The least limit of the control groups above this process (version 2, and 1 where memory is
// there).
std::uint64_t control_group_limit() {
  const auto groups = restart::read_file(AT_FDCWD, "/proc/self/cgroup", 1 << 16);
  if (!groups) return UINT64_MAX;
  std::uint64_t limit = UINT64_MAX;
  std::string_view lines = as_text(*groups);
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(lines.size(), line.size() + 1));
    const auto colon = line.find(':');
    const auto second = colon == std::string_view::npos ? colon : line.find(':', colon + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(colon + 1, second - colon - 1);
    std::string path(line.substr(second + 1));
    const bool first_version = controllers == "memory";
    if (!controllers.empty() && !first_version) continue;
    const std::string root = first_version ? "/sys/fs/cgroup/memory" : "/sys/fs/cgroup";
    const std::string name = first_version ? "/memory.limit_in_bytes" : "/memory.max";
    for (;;) {
      limit = std::min(limit, number_in(root + (path == "/" ? "" : path) + name));
      if (path.size() <= 1) break;
      const auto slash = path.rfind('/');
      path.resize(slash == 0 || slash == std::string::npos ? 0 : slash);
      if (path.empty()) path = "/";
    }
  }
  return limit;
}

}  // namespace

std::uint64_t stage_room(const JobStage& stage, const restart::Settings& settings) {
  struct statvfs status {};
  if (restart::system_calls().fstatvfs(stage.directory.descriptor(), &status) != 0) return 0;
  const std::uint64_t block = status.f_frsize;
  const std::uint64_t free_bytes = status.f_bavail * block;
  std::uint64_t limit = 0;
  if (settings.is_set("stage_limit") && settings.text("stage_limit") != "auto") {
    limit = settings.bytes("stage_limit");
  } else {
    // Control groups change seldom; a second is soon enough.
    static constinit std::atomic<std::uint64_t> known_limit{0};
    static constinit std::atomic<std::uint64_t> known_ns{0};
    const std::uint64_t now = monotonic_ns();
    if (known_ns == 0 || now - known_ns > 1'000'000'000) {
      known_limit = control_group_limit();
      known_ns = now;
    }
    limit = std::min<std::uint64_t>(status.f_blocks * block, known_limit) / 2;
  }
  const std::uint64_t used = stage.directory.notice().stage_bytes;
  // What a part reuses from the pool is counted in both, which errs on the safe side.
  return used >= limit ? 0 : std::min(limit - used, free_bytes);
}

}  // namespace mcr::vol
