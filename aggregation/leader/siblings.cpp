// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/leader/siblings.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <set>

#include "restart/base/system.hpp"
#include "restart/masked_name.hpp"

namespace mcr::aggregation {

namespace {
/// Steps to other ranks: neighbours, then those that are likely to be on other nodes.
constexpr std::uint32_t steps[] = {1, 2, 3, 4, 8, 16, 32, 64, 128, 256};
}  // namespace

std::optional<std::size_t> find_siblings(const restart::PartBegin& begin) {
  if (begin.rank_count < 2) return std::nullopt;
  std::set<std::uint32_t> others;
  for (const std::uint32_t step : steps) {
    if (step >= begin.rank_count) break;
    others.insert((begin.rank + step) % begin.rank_count);
    others.insert((begin.rank + begin.rank_count - step) % begin.rank_count);
  }
  for (std::size_t i = 0; i < begin.masked_names.size(); ++i) {
    for (const std::uint32_t other : others) {
      for (const std::string& path :
           restart::sibling_paths(begin.path, begin.masked_names[i], begin.rank, other)) {
        struct stat status {};
        const bool exists =
            restart::system_calls().fstatat(AT_FDCWD, path.c_str(), &status, 0) == 0;
        if (exists && S_ISREG(status.st_mode)) return i;
      }
    }
  }
  return std::nullopt;
}

}  // namespace mcr::aggregation
