// SPDX-License-Identifier: BSD-3-Clause
#include "restart/open/paths_of_sets.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <utility>

#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/format/masked_name.hpp"

namespace mcr::restart {

std::vector<std::string> paths_of_sets(const std::set<GenerationName>& sets,
                                       const OpenedPath& opened, const NamesHere& here,
                                       const PresentNames& present,
                                       const std::vector<Generation>& generations) {
  std::vector<std::string> paths;
  for (const auto& [number, path] : present.paths) paths.push_back(path);
  if (!present.paths.contains(opened.number)) paths.push_back(opened.path);
  for (const Generation& generation : generations) {
    if (!sets.contains(generation.name)) continue;
    for (const auto& [path, member] : generation.members) {
      if (present.paths.contains(number_of(member, generation.name.masked_name))) continue;
      if (!here.renamed) {
        paths.push_back(here.base + path);
        continue;
      }
      for (std::string& other :
           sibling_paths(opened.path, here.masked_name, opened.rank, member.rank)) {
        struct stat status {};
        if (system_calls().fstatat(AT_FDCWD, parent_of(other).c_str(), &status, 0) == 0)
          paths.push_back(std::move(other));
      }
    }
  }
  return paths;
}

}  // namespace mcr::restart
