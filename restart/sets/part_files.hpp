// SPDX-License-Identifier: BSD-3-Clause
// The files of a set that a {part} in the masked name tells apart. No rank knows the numbers of another rank's files, so
// they are found by listing the directory.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "codecs/base/result.hpp"
#include "restart/sets/generations.hpp"

namespace mcr::restart {

/// By the number at {part}; several paths may have one number (3 and 03).
using PartFiles = std::map<FileNumber, std::vector<std::string>>;
/// Returns the paths that fit `masked_name`, a path for which `is_numbered_by_part()` holds. None if the directory is gone. An error
/// if it cannot be listed.
Result<PartFiles> part_files(std::string_view masked_name);

}  // namespace mcr::restart
