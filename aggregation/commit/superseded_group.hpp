// SPDX-License-Identifier: BSD-3-Clause
// Drops a set that need not go to storage (flush=), because the program has overwritten its files since, and the newer files
// are whole in the stage.
#pragma once

#include <optional>

#include "aggregation/commit/drain_group.hpp"
#include "aggregation/commit/stub_handles.hpp"
#include "aggregation/commit/summary.hpp"
#include "restart/stage/stage.hpp"

namespace mcr::aggregation {

/// Frees all parts of a superseded group. Returns nothing, and changes nothing, if the group is not superseded, if any of its
/// stubs may still have a name, or if a newer part was taken back since: the group is then committed like any other.
std::optional<DrainDone> drop_superseded(const restart::LaunchDirectory& directory,
                                         const DrainGroup& group, Summary& summary,
                                         StubHandles& stubs);

}  // namespace mcr::aggregation
