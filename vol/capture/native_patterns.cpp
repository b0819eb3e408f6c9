// SPDX-License-Identifier: BSD-3-Clause
#include "vol/capture/native_patterns.hpp"

#include "restart/base/file.hpp"
#include "restart/base/path_names.hpp"
#include "restart/format/masked_name.hpp"
#include "restart/stage/stage.hpp"

namespace mcr::vol {

void tell_of_native(JobStage& job, const std::vector<std::string>& masked_names) {
  constexpr std::size_t most_bytes = 48 * 1024;  // presences() reads at most 64 KiB of a presence
  constexpr std::size_t record_bytes = 32;       // at most, beside the pattern
  for (const std::string& name : masked_names) {
    const std::string pattern = restart::pattern_of(name);
    const std::size_t bytes = pattern.size() + record_bytes;
    if (job.native_patterns.contains(pattern) || job.native_pattern_bytes + bytes > most_bytes ||
        !restart::LaunchDirectory::record_native_pattern(job.presence, pattern))
      continue;  // the next file tries again
    job.native_patterns.insert(pattern);
    job.native_pattern_bytes += bytes;
  }
}

void tell_of_led_away(JobStage& job, const NameQuestion& file) {
  // The link may be the last component, or one of those before it that tell the rank.
  constexpr std::size_t most_components = 4;
  std::string at(file.path_as_passed);
  std::string tail;
  for (std::size_t i = 0; i < most_components && !at.empty() && at != "/"; ++i) {
    const std::string last = restart::name_of(at);
    if (last == "..") return;
    if (!last.empty() && last != ".") tail = "/" + last + tail;
    at = restart::parent_of(at);
    const std::string path = restart::real_path(at) + tail;
    if (path == file.path || path == tail) continue;
    NameQuestion without_link = file;
    without_link.path = path;
    tell_of_native(job, captured_names(without_link).masked_names);
  }
}

}  // namespace mcr::vol
