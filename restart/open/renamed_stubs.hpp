// SPDX-License-Identifier: BSD-3-Clause
// Stubs of a set's ranks that do not have the names under which they were written. The program may have renamed them, or another user
// who may write to one rank's directory.
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

/// A stub that shows a set, and a file that shows that the stub's name proves nothing.
struct MovedStub {
  std::string path;  ///< empty: there is none
  std::string
      other;  ///< a rank's file in a directory that keeps out users who may have put the stub at its name
};

/// Finds a stub that shows the set `shown` and that another user may have moved to its name: it was not written under that name, and
/// he may put files into its directory, but not into the directory of another rank's file. Without such a stub, and if a stub that
/// nobody can have moved in this way shows the set too, `path` is empty. Looks at the directory of each rank's file once.
MovedStub stub_moved_by_others(const NamesHere& here, const PresentNames& present,
                               const GenerationName& shown);

}  // namespace mcr::restart
