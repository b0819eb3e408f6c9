// SPDX-License-Identifier: BSD-3-Clause
// Sets with containers that are late copies (restart/container/late_copies). The user may have copied them from another user.
#pragma once

#include <vector>

#include "aggregation/commit/set_files.hpp"

namespace mcr::aggregation {

/// Adds those parts of `copied`, late copies of containers of the same set, that the stubs at their paths name. Returns false if there
/// are none.
bool add_named_parts(StoredSet& set, StoredSet& copied);

/// Marks the copied sets that do not count: no file belongs to the set, and the directory has a whole set of the same pattern that is no
/// late copy, or other containers of the same set. Opens ask for the names that they open instead of the pattern
/// (restart/sets/generations, whole_before()).
void mark_unused_copies(std::vector<StoredSet>& sets);

}  // namespace mcr::aggregation
