// SPDX-License-Identifier: BSD-3-Clause
// Rank, rank count and launch nonce, from what the launcher left in the environment, overridden by
// the settings rank=, ranks=, launch=, node=.
//
// The nonce names one start of a program's ranks. A source counts only if it is equal in all ranks
// on all nodes and differs between two starts in one allocation (two `mpiexec` in one batch script
// are two launches):
//   Slurm       cluster, job, step and restart count
//   Open MPI    the random key that mpirun draws for each start, with the PMIx namespace
//   PRRTE       the PMIx namespace: host and process number of prterun, and a count
//   PALS, Flux  the application's, or job's, identifier
//   Intel MPI   the launcher's UUID
//   MPICH, MVAPICH, others   the launcher's process (boot, process number, start time), where one
//               such process can be seen from all ranks: all of them on one node, or a launcher
//               that forks; never a shell, which may start the same ranks again
// With one rank the process draws a number of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace mcr::restart {

/// What an initialised MPI library says of MPI_COMM_WORLD.
struct MpiWorld {
  std::uint32_t rank = 0;
  std::uint32_t rank_count = 1;
};

struct Launcher {
  std::uint32_t rank = 0;
  std::uint32_t rank_count = 1;
  std::uint32_t local_rank_count = 0;  ///< on this node; 0 unknown
  /// Equal on all nodes of one start, different between two starts; none: more than one rank and no
  /// source that is certain (files then go native, with one line that names `launch=`). Fit for
  /// file names: [A-Za-z0-9_-], at most 64.
  std::optional<std::string> launch;
  std::string node;
  std::string source;         ///< which launcher said rank and count, for `mcr config` and messages
  std::string launch_source;  ///< and where the nonce came from
  bool is_assumed = false;    ///< one rank, because nothing says anything else (yet)
};

/// Empty where not given.
struct LauncherOverrides {
  std::optional<std::uint32_t> rank, rank_count;
  std::string launch, node;
  /// What the program's MPI library says; asked where neither variables nor rank= say the rank.
  std::optional<MpiWorld> mpi = std::nullopt;
};

/// `variable` answers like getenv (nullptr: not set). Looks at /proc for the launcher's process. A
/// process calls it once and keeps the answer: for one rank each call draws another nonce.
Launcher find_launcher(const std::function<const char*(const char*)>& variable,
                       const LauncherOverrides& overrides);

/// False where a shell or another wrapper stands between launcher and program, which may start several
/// programs in turn.
bool is_child_of_launcher();

}  // namespace mcr::restart
