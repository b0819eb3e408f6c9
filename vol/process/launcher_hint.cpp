// SPDX-License-Identifier: BSD-3-Clause
#include "vol/process/launcher_hint.hpp"

#include <fcntl.h>

#include <cstdlib>
#include <string>

#include "restart/base/file.hpp"
#include "restart/base/log.hpp"

namespace mcr::vol {

bool is_tracked_by_slurm(std::string_view control_groups) {
  const std::size_t job = control_groups.find("/job_");
  return job != std::string_view::npos &&
         control_groups.find("/step_", job) != std::string_view::npos;
}

bool is_tracked_by_slurm() {
  constexpr std::size_t most_bytes = 16 * 1024;
  const auto groups = restart::read_file(AT_FDCWD, "/proc/self/cgroup", most_bytes);
  return groups && is_tracked_by_slurm(as_text(*groups));
}

void hint_at_mcr_run() {
  const char* const node = std::getenv("SLURM_NODEID");
  if (node == nullptr || std::string_view(node) != "0") return;
  if (!is_tracked_by_slurm()) return;
  restart::log_summary(
      "if this job step ends early (a rank dies, scancel, time limit), Slurm kills the leaders "
      "with "
      "it, and files that are closed but not yet in storage stay in the nodes' memory until "
      "`mcr recover --all-nodes`. `mcr run -- srun …` avoids that; hints=off silences this line");
}

}  // namespace mcr::vol
