// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <cstdlib>

namespace mcr::aggregation {

/// The network of a team of one process. MPI ends with the process.
inline MPI_Comm team_of_one() {
  int is_begun = 0;
  MPI_Initialized(&is_begun);
  if (is_begun == 0) {
    MPI_Init(nullptr, nullptr);
    std::atexit([] { MPI_Finalize(); });
  }
  return MPI_COMM_SELF;
}

}  // namespace mcr::aggregation
