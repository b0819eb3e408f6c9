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
  // Any component that the program named may be the link. Names deeper than this are rare, and each costs a realpath().
  constexpr std::size_t most_components = 8;
  std::string at(file.path_as_passed);
  std::string tail;
  for (std::size_t i = 0; i < most_components; ++i) {
    const std::string last = restart::name_of(at);
    if (last == "..") return;
    if (!last.empty() && last != ".") tail = "/" + last + tail;
    at = restart::parent_of(at);
    const std::string directory = restart::real_path(at);
    const std::string path = (directory == "/" ? "" : directory) + tail;
    if (!directory.empty() && path != file.path) {
      NameQuestion without_link = file;
      without_link.path = path;
      tell_of_native(job, captured_names(without_link).masked_names);
    }
    if (at == "." || at == "/") return;
  }
}

}  // namespace mcr::vol
