// SPDX-License-Identifier: BSD-3-Clause
// Where to look for a container whose files were renamed before or after its commit: in directories
// above the stub, or above the place where it was written (docs/design/commit.md). Used only if
// container_places() led to nothing.
#pragma once

#include <string>
#include <vector>

#include "restart/sets/container_places.hpp"

namespace mcr::restart {

/// Returns existing directories, nearest first. Each is listed with the name that a container has
/// outside its own directory (far_container_name). If `with_near_names`, it is listed once more
/// with the name that a container has in its own directory. Sets of several directories may share a
/// name of the second kind, so only a caller that compares part ids may ask for it. All directories
/// belong to the stub's owner.
std::vector<ContainerPlace> places_above(const Stub& stub, const std::string& stub_path,
                                         bool with_near_names);

}  // namespace mcr::restart
