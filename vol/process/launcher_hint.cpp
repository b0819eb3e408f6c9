// SPDX-License-Identifier: BSD-3-Clause
#include "vol/process/launcher_hint.hpp"

#include <fcntl.h>

#include <cstdlib>
#include <string>

#include "restart/base/file.hpp"
#include "restart/base/log.hpp"
#include "restart/settings/speaking_nodes.hpp"

namespace mcr::vol {

namespace {

std::string own_control_groups() {
  constexpr std::size_t most_bytes = 16 * 1024;
  const auto groups = restart::read_file(AT_FDCWD, "/proc/self/cgroup", most_bytes);
  return groups ? std::string(as_text(*groups)) : std::string();
}

}  // namespace

bool is_tracked_by_slurm(std::string_view control_groups) {
  const std::size_t job = control_groups.find("/job_");
  return job != std::string_view::npos &&
         control_groups.find("/step_", job) != std::string_view::npos;
}

bool is_tracked_by_slurm() { return is_tracked_by_slurm(own_control_groups()); }

bool is_in_numbered_step(std::string_view control_groups) {
  constexpr std::string_view mark = "/step_";
  const std::size_t job = control_groups.find("/job_");
  const std::size_t step = job == std::string_view::npos ? job : control_groups.find(mark, job);
  if (step == std::string_view::npos) return false;
  const std::string_view name = control_groups.substr(step + mark.size());
  return !name.empty() && name.front() >= '0' && name.front() <= '9';
}

void hint_at_mcr_run(const restart::Launcher& who) {
  const char* const node = std::getenv("SLURM_NODEID");
  if (node == nullptr || std::string_view(node) != "0") return;
  if (!is_in_numbered_step(own_control_groups())) return;
  // Under Open MPI all nodes have the number 0.
  if (!restart::is_to_print(restart::turn_to_speak(who, "hint", 1))) return;
  restart::log_summary(
      "if this job step ends early (a rank dies, scancel, time limit), Slurm kills the leaders "
      "with "
      "it, and files that are closed but not yet in storage stay in the nodes' memory until "
      "`mcr recover --all-nodes`. `mcr run -- srun …` avoids that; hints=off silences this line");
}

}  // namespace mcr::vol
