// SPDX-License-Identifier: BSD-3-Clause
// The directory of containers as the leader makes it: durable, and as open to readers as where it stands.
#pragma once

#include <string>

#include "restart/base/file.hpp"
#include "restart/sets/own_containers.hpp"

namespace mcr::aggregation {

/// Opens it, and makes what is missing of `below`, which leads there from `base` and may begin with "..".
/// An error where others could do more to containers there than to the program's own files
/// (restart/sets/own_containers). Its own name is durable when this returns: a container in it that is
/// durable is found again.
Result<restart::MadeContainers> make_container_directory(const restart::File& base,
                                                         const std::string& below);

}  // namespace mcr::aggregation
