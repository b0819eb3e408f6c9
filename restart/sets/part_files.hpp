// SPDX-License-Identifier: BSD-3-Clause
// The files of a set that a {part} in the masked name tells apart. No rank knows the numbers of another rank's files, so
// they are found by listing the directory.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "restart/sets/generations.hpp"

namespace mcr::restart {

/// Returns the paths that fit `masked_name`, a path, by the number at its {part}. Of several paths with the same
/// number (3 and 03), the first in the order of names counts. Empty if the directory cannot be listed.
/// `is_numbered_by_part(masked_name)` must hold.
std::map<FileNumber, std::string> part_files(std::string_view masked_name);

/// `written_as` is the path of a file when it was written as `written_mask`, and `path` its present path. Returns the
/// mask of the present path: with {part} where the same number stands; of several such places, the one that makes
/// the mask most like `written_mask`. Empty if the number does not stand there.
std::string renamed_part_mask(const std::string& path, const std::string& written_as,
                              const std::string& written_mask);

}  // namespace mcr::restart
