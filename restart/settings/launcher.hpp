// SPDX-License-Identifier: BSD-3-Clause
// Finds rank, rank count and launch nonce in the launcher's environment variables. The settings
// rank=, ranks=, launch= and node= override them.
//
// The nonce names one start of a program's ranks. A source counts only if it is equal in all ranks
// on all nodes and differs between two starts in one allocation (two `mpiexec` in one batch script
// are two launches):
//   Slurm       cluster, job, step and restart count
//   Open MPI    the random key that mpirun draws for each start, with the PMIx namespace
//   PRRTE       the PMIx namespace: host and process number of prterun, and a count
//   PALS, Flux  the application's, or job's, identifier
//   Intel MPI   the launcher's UUID
//   MPICH       on several nodes of a Slurm job: the step whose tasks are mpiexec's proxies
//   MPICH, MVAPICH, others   the launcher's process (boot, process number, start time), if all
//               ranks see the same one: all ranks are on one node, or the launcher forks its
//               proxies; never a shell, because a shell may start the same ranks again
// With one rank the process draws a random nonce.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace mcr::restart {

/// What an initialised MPI library says about MPI_COMM_WORLD.
struct MpiWorld {
  std::uint32_t rank = 0;
  std::uint32_t rank_count = 1;
};

struct Launcher {
  std::uint32_t rank = 0;
  std::uint32_t rank_count = 1;
  std::uint32_t local_rank_count = 0;  ///< on this node; 0: unknown
  /// The nonce: equal on all nodes of one start, different between two starts. Nothing if there are
  /// several ranks and no certain source: files then go native, with one line that names `launch=`.
  /// At most 64 of the characters [A-Za-z0-9_-].
  std::optional<std::string> launch;
  std::string node;
  std::string source;         ///< which launcher gave rank and count, for `mcr config` and messages
  std::string launch_source;  ///< the source of the nonce
  bool is_assumed = false;    ///< one rank is assumed, because no source has given the rank (yet)
};

/// Values that the settings give; empty if not set.
struct LauncherOverrides {
  std::optional<std::uint32_t> rank, rank_count;
  std::string launch, node;
  /// What the program's MPI library says; used if neither variables nor rank= give the rank.
  std::optional<MpiWorld> mpi = std::nullopt;
};

/// `variable` works like getenv (nullptr: not set). Reads /proc to find the launcher's process. A
/// process calls this once and keeps the answer, because with one rank each call draws another
/// nonce.
Launcher find_launcher(const std::function<const char*(const char*)>& variable,
                       const LauncherOverrides& overrides);
/// The same with the variables of this process.
Launcher find_launcher(const LauncherOverrides& overrides);

/// Returns the name of this node.
std::string host_name();

/// Returns the scheduler's name of the job in which this process runs; empty outside of any job.
std::string scheduler_job();

/// Returns the network's switches above this node, joined by '.', the topmost one first. This is SLURM_TOPOLOGY_ADDR without its last
/// component, the node. Empty: the scheduler does not tell.
std::string scheduler_switches();

/// False if a shell or another wrapper, which may start several programs in turn, stands between
/// launcher and program.
bool is_child_of_launcher();

}  // namespace mcr::restart
