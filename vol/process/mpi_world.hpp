// SPDX-License-Identifier: BSD-3-Clause
// Rank and size from the program's own MPI library, if no launcher left them in the environment.
// The plugin links no MPI. It looks for the library among the loaded ones, and calls it only if the
// handle of MPI_COMM_WORLD is known for certain, because a wrong handle would end the program.
#pragma once

#include <optional>

#include "restart/settings/launcher.hpp"

namespace mcr::vol {

/// Returns nothing if no MPI library is loaded, if the library is not initialised, finalised or of
/// an unknown kind, or if this thread must not call it.
std::optional<restart::MpiWorld> mpi_world();

/// True if the program has called MPI_Finalize. Every rank calls it at its end, so every rank of the
/// program has begun, and few files are still to come.
bool has_finalized_mpi();

}  // namespace mcr::vol
