// SPDX-License-Identifier: BSD-3-Clause
// The removal of a set that never was in storage (flush=, docs/design/flush.md).
#pragma once

#include <vector>

#include "aggregation/commit/stub_handles.hpp"
#include "aggregation/merge/sets.hpp"
#include "restart/base/part_id.hpp"
#include "restart/stage/stage.hpp"

namespace mcr::aggregation {

/// Removes the held set `set`, which `newer` has superseded: the stubs of `parts`, then the parts, then the
/// container. Returns false, and keeps the set, if a file of it has another name than the one under which it was
/// written: the program may want to keep that file. What a crash leaves: stubs that are gone while their parts are
/// still in the stage. The next leader commits these parts; opens see the newer set in any case.
Result<bool> drop_held_set(const restart::LaunchDirectory& directory, const SetName& set,
                           const std::vector<restart::PartId>& parts, const SetName& newer,
                           StubHandles& stubs);

}  // namespace mcr::aggregation
