// SPDX-License-Identifier: BSD-3-Clause
// Where a container may lie whose files were renamed before its commit or after it: in a directory above
// the stub, or above the place where it was written (docs/design/commit.md). Asked only where
// container_places() led to nothing.
#pragma once

#include <string>
#include <vector>

#include "restart/sets/container_places.hpp"

namespace mcr::restart {

/// Nearest first, and only directories that are there; of each, first the name that a container has in
/// a directory that is not its own (far_container_name), then, where `with_near_names`, that of its own:
/// sets of several directories may have the same one, so only who compares part numbers may ask for it.
/// All must belong to the stub's owner.
std::vector<ContainerPlace> places_above(const Stub& stub, const std::string& stub_path,
                                         bool with_near_names);

}  // namespace mcr::restart
