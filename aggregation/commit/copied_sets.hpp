// SPDX-License-Identifier: BSD-3-Clause
// Sets of which all containers are copies (ContainerReader::is_copy()). The user may have copied them from another user.
#pragma once

#include <vector>

#include "aggregation/commit/set_files.hpp"

namespace mcr::aggregation {

/// Adds the parts of `copied`, the same set, that `set` lacks, with their containers. Returns false if there are none.
bool fill_gaps(StoredSet& set, StoredSet& copied);

/// Marks the copied sets that do not count, as opens do (restart/sets/generations, leave_out_copies()): the directory has other sets,
/// and no file there belongs to the copied one.
void mark_unused_copies(std::vector<StoredSet>& sets);

}  // namespace mcr::aggregation
