// SPDX-License-Identifier: BSD-3-Clause
// Makes the directory of containers durably, with the same access for readers as its parent
// directory.
#pragma once

#include <string>

#include "restart/base/file.hpp"
#include "restart/sets/own_containers.hpp"

namespace mcr::aggregation {

/// Opens the directory that `below` (which may begin with "..") names from `base`, and makes its
/// missing components. Fails if other users could do more to containers there than to the program's
/// own files (restart/sets/own_containers). When this returns, the directory's name is durable, so
/// that durable containers in it are found after a power failure.
Result<restart::MadeContainers> make_container_directory(const restart::File& base,
                                                         const std::string& below);

}  // namespace mcr::aggregation
