// SPDX-License-Identifier: BSD-3-Clause
// Sets whose containers stay in the stage (flush=, docs/design/flush.md): how a set comes there, and how its
// container goes to storage.
#pragma once

#include <vector>

#include "aggregation/commit/locked_parts.hpp"
#include "aggregation/commit/write_container.hpp"
#include "restart/base/file.hpp"
#include "restart/stage/stage.hpp"

namespace mcr::aggregation {

/// Writes the set's container into the stage, and frees the parts' bytes. `set` has no place yet. An error
/// leaves the parts as they were. What a crash leaves: before a journal says that its part is held, a container
/// that no part names (LaunchDirectory::sweep_held()); after that, parts of which the bytes may lie in both places.
Result<CommitReport> hold_set(const restart::LaunchDirectory& directory, SetToCommit set,
                              const MergeOptions& options, std::vector<LockedPart>& parts);

/// Returns the container in the stage that holds these parts and no other one; not open if there is none.
restart::File held_container(const restart::LaunchDirectory& directory,
                             const std::vector<const LockedPart*>& parts);

/// Copies that container to its place, as write_container() would have written it there. `set` is complete.
Result<CommitReport> copy_container(const SetToCommit& set, const restart::File& held);

/// Returns the bytes of a held part, as a file without a name.
Result<restart::File> bytes_of_held(const restart::LaunchDirectory& directory,
                                    const restart::PartId& part);

}  // namespace mcr::aggregation
