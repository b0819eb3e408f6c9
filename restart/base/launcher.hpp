// SPDX-License-Identifier: BSD-3-Clause
// Rank, rank count and launch nonce from the launcher's variables (facts: PMI, PMIx, Open MPI, MVAPICH,
// Slurm, PALS, Flux), overridden by the settings rank=, ranks=, launch=, node=.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace mcr::restart {

struct Launcher {
  std::uint32_t rank = 0;
  std::uint32_t rank_count = 1;
  std::uint32_t local_rank_count = 0;  ///< on this node; 0 unknown
  /// Equal on all nodes of one start, different between two starts; none: more than one rank and no
  /// source that is certain (files then go native, with one line that names `launch=`).
  std::optional<std::string> launch;
  std::string node;
  std::string source;  ///< which launcher said so, for `mcr config` and messages
};

/// `variable` answers like getenv (nullptr: not set). Overrides are empty where not given.
struct LauncherOverrides {
  std::optional<std::uint32_t> rank, rank_count;
  std::string launch, node;
};
Launcher find_launcher(const std::function<const char*(const char*)>& variable,
                       const LauncherOverrides& overrides);

}  // namespace mcr::restart
