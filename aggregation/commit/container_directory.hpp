// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "codecs/base/result.hpp"

namespace mcr::aggregation {

/// Makes the directory where it is missing; an error where others could do more to containers there
/// than to the program's own files (restart/sets/own_containers). Its own name is durable when this returns: a container
/// in it that is durable is found again.
Result<void> make_container_directory(const std::string& path);

}  // namespace mcr::aggregation
