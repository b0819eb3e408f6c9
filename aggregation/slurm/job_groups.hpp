// SPDX-License-Identifier: BSD-3-Clause
// Where a job's residents live on a node, in terms of control groups: in the job's groups, so that the job's
// limits hold for them, but in none of its steps' groups, so that the end of a step does not end them.
//
//   cgroup v2   …/job_N/mcr                        in one hierarchy
//   cgroup v1   freezer: …/job_N/mcr               all other hierarchies in which Slurm has made a job_N: that job_N
//
// The group job_N/mcr holds the residents and their leaders and no other process, whatever sessions and
// parents these have. So the end of the job finds them all there.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mcr::aggregation {

struct JobGroups {
  std::string own;                  ///< the directory of job_N/mcr
  std::vector<std::string> shared;  ///< directories of job_N in the other hierarchies
  bool is_unified = false;          ///< cgroup v2
};

/// Finds the groups of the job from the texts of /proc/self/cgroup and /proc/self/mountinfo of a process of
/// one of its steps. Nothing if Slurm does not track processes by control groups. Slurm then does not kill
/// leaders with a step, and no resident is needed.
std::optional<JobGroups> find_job_groups(std::string_view groups, std::string_view mounts,
                                         std::uint32_t job);

/// Makes the group job_N/mcr. An existing group is not an error.
bool make_own_group(const JobGroups& groups);

/// Moves this process into the groups. False if it is not in job_N/mcr now.
bool join(const JobGroups& groups);

/// Returns the processes in the group; nothing if the group does not exist.
std::vector<pid_t> processes_in(const std::string& group);

/// Sends SIGTERM to those processes of the group whose parent is not in it: residents, and leaders whose
/// resident is gone. A resident passes the signal on to its leaders.
void terminate(const std::string& group);

/// Sends SIGKILL to all processes of the group. If the kernel cannot do so in one step (cgroup.kill), the
/// group is frozen first, so that no process can fork. If freezing fails, a process may survive: call again.
void kill_all(const JobGroups& groups);

/// Removes job_N/mcr, and each job_N that Slurm could not remove because of it.
void remove(const JobGroups& groups);

}  // namespace mcr::aggregation
