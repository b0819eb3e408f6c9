// SPDX-License-Identifier: BSD-3-Clause
// Stubs of a set's ranks that do not have the names under which they were written, because the program has renamed them.
#pragma once

#include <string>

#include "restart/format/stub.hpp"
#include "restart/sets/known_generations.hpp"
#include "restart/sets/names_here.hpp"

namespace mcr::restart {

/// True if a stub of another rank has not the name under which it was written, or was written below another directory than the
/// opened one. Stubs of `launch` do not count: sets that this launch itself has written are no evidence about other sets.
bool another_was_renamed(const Stub& opened, const NamesHere& here, const PresentNames& present,
                         const std::string& launch);

}  // namespace mcr::restart
