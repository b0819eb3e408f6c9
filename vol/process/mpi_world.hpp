// SPDX-License-Identifier: BSD-3-Clause
// Rank and size from the program's own MPI library, where no launcher left them in the environment.
// The plugin links no MPI: the library is looked up among what the process has loaded, and asked
// only where its handle of MPI_COMM_WORLD is known for certain, because a wrong one would end the
// program.
#pragma once

#include <optional>

#include "restart/settings/launcher.hpp"

namespace mcr::vol {

/// Nothing where no MPI library is loaded, it is not initialised or finalised already, it is of an
/// unknown kind, or this thread must not call it.
std::optional<restart::MpiWorld> mpi_world();

}  // namespace mcr::vol
