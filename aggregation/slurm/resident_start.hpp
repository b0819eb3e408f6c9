// SPDX-License-Identifier: BSD-3-Clause
// Starts `mcr leaders serve` for a job's user, from a process of Slurm that runs as root.
//
// What the user says (the values of variables) is data until the process has the user's identity: it is
// copied, bounded and hashed, and never expanded, opened or run. The command is the installed one.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "aggregation/slurm/job_groups.hpp"

namespace mcr::aggregation {

struct JobUser {
  uid_t user = 0;
  gid_t group = 0;
  std::vector<gid_t> groups;  ///< supplementary
};

/// True if a program with this value of HDF5_VOL_CONNECTOR uses mcr.
bool is_ours(const char* connector);

/// Returns the environment of the resident: a few variables of its own, and from the environment of the
/// step the settings of mcr, the places where mcr.conf is looked for, and the end of the job. Nothing if
/// they are too large.
std::optional<std::vector<std::string>> resident_environment(const char* const* step,
                                                             const std::string& job);

/// Returns the file mode mask that the step's environment names, or 077.
mode_t umask_of(const char* const* step);

struct ResidentStart {
  std::string command;  ///< an absolute path
  std::vector<std::string> environment;
  JobUser user;
  mode_t mask = 077;
  JobGroups groups;
  int input = -1;   ///< its end tells the resident to end
  int output = -1;  ///< the resident writes a line there when it listens
};
/// Starts the resident as an orphan (double fork). Returns before the resident's program is loaded.
void start_resident(const ResidentStart& start);

}  // namespace mcr::aggregation
