// SPDX-License-Identifier: BSD-3-Clause
// What `mcr doctor` says of the node and the launcher: each condition under which a guarantee of docs/guarantees.md does
// not hold, with the remedy.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "restart/settings/settings.hpp"

namespace mcr::aggregation {

struct SiteFacts {
  bool is_in_slurm_job = false;
  std::string slurm_version;                  ///< "22.05.8"; empty: not known
  std::optional<bool> kills_with_step;        ///< Slurm kills all processes of a step when it ends
  bool has_resident = false;                  ///< starts leaders that outlive a step
  std::optional<bool> can_overlap;            ///< a step beside the program's can be started
  std::optional<std::uint64_t> seconds_left;  ///< until the job's time limit
  bool is_stage_private = false;              ///< the stage's file system is the job's own
  std::uint64_t stage_bytes = 0;              ///< size of the stage's file system
  std::uint64_t memory_bytes = 0;             ///< of the node
  std::optional<std::uint64_t> group_bytes;  ///< memory limit of the control group, if there is one
  std::string file_system;  ///< "NFS", "Lustre", "GPFS": of the working directory; else empty
};

struct SiteFinding {
  bool is_good = false;
  std::string what;
  std::string remedy;  ///< empty if there is nothing to do
};

/// Looks at this node. The stage need not exist.
SiteFacts look_at_site(const restart::Settings& settings);

std::vector<SiteFinding> judge_site(const SiteFacts& facts);

}  // namespace mcr::aggregation
