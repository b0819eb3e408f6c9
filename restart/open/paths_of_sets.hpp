// SPDX-License-Identifier: BSD-3-Clause
// The paths at which files of certain sets lie now, or may have lain.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "restart/sets/generations.hpp"
#include "restart/sets/known_generations.hpp"
#include "restart/sets/names_here.hpp"

namespace mcr::restart {

struct OpenedPath {
  std::string path;  ///< links resolved
  FileNumber number = 0;
  std::uint32_t rank = 0;  ///< that wrote the file
};

/// Returns the paths of all present files and of the opened one, and the paths at which the other members of the named
/// generations would lie. Somebody may have removed files. The opened path, or a path of a present file, comes first.
std::vector<std::string> paths_of_sets(const std::set<GenerationName>& sets,
                                       const OpenedPath& opened, const NamesHere& here,
                                       const PresentNames& present,
                                       const std::vector<Generation>& generations);

}  // namespace mcr::restart
