// SPDX-License-Identifier: BSD-3-Clause
#include "vol/capture/native_patterns.hpp"

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

}  // namespace mcr::vol
