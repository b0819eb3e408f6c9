// SPDX-License-Identifier: BSD-3-Clause
// Our links to stubs (restart/sets/stub_links.hpp), as far as the leader makes them. A set's containers are removed
// automatically only if its stubs are linked beside them. Does nothing without gc=on.
#pragma once

#include "aggregation/commit/stub_handles.hpp"
#include "restart/format/container_name.hpp"
#include "restart/format/journal.hpp"

namespace mcr::aggregation {

/// Links a stub that the leader has put in place for its dead writer.
void link_repaired_stub(const restart::PartBegin& begin);

/// Moves the link to the stub into the directory of `where`. A rank does not know yet which of its possible names has
/// all the ranks' numbers (r1/a.1.h5: r1/a.{rank}.h5, or r{rank}/a.{rank}.h5?), and so may have linked the stub in another
/// directory. Removes the directories that it made there if they are empty: the program may remove the rank's directory.
/// A publish that has just opened one of them makes no link, and its set then stays.
void move_stub_link(const restart::PartBegin& begin, const restart::ContainerName& where,
                    const StubHandles* stubs);

}  // namespace mcr::aggregation
