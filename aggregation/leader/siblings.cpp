// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/leader/siblings.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <set>

#include "aggregation/commit/commit_options.hpp"
#include "restart/base/file.hpp"
#include "restart/base/system.hpp"
#include "restart/container_name.hpp"
#include "restart/masked_name.hpp"

namespace mcr::aggregation {

namespace {
/// Steps to other ranks: neighbours, then those that are likely to be on other nodes.
constexpr std::uint32_t steps[] = {1, 2, 3, 4, 8, 16, 32, 64, 128, 256};

/// A lone file never comes into a container: where the launch has one under that name, the leader
/// that wrote it knew of others. It is dead now, or another node's.
bool has_containers(const restart::PartBegin& begin, const std::string& masked_name) {
  const auto where = restart::container_name(masked_name, settings_of(begin).text("container_dir"),
                                             begin.launch, 0);
  const auto names = restart::list_directory(AT_FDCWD, where.directory);
  if (!names) return false;
  constexpr std::size_t sequence_bytes = 2;  // "0."
  const std::string prefix = where.prefix.substr(0, where.prefix.size() - sequence_bytes);
  return std::any_of(names->begin(), names->end(),
                     [&](const std::string& name) { return name.starts_with(prefix); });
}

/// The ranks whose files are looked for.
std::set<std::uint32_t> neighbours(const restart::PartBegin& begin) {
  std::set<std::uint32_t> others;
  for (const std::uint32_t step : steps) {
    if (step >= begin.rank_count) break;
    others.insert((begin.rank + step) % begin.rank_count);
    others.insert((begin.rank + begin.rank_count - step) % begin.rank_count);
  }
  return others;
}

std::optional<std::size_t> find_beside(const restart::PartBegin& begin, const std::string& path,
                                       const std::vector<std::string>& masked_names) {
  for (std::size_t i = 0; i < masked_names.size(); ++i) {
    for (const std::uint32_t other : neighbours(begin)) {
      for (const std::string& sibling :
           restart::sibling_paths(path, masked_names[i], begin.rank, other)) {
        struct stat status {};
        const bool exists =
            restart::system_calls().fstatat(AT_FDCWD, sibling.c_str(), &status, 0) == 0;
        if (exists && S_ISREG(status.st_mode)) return i;
      }
    }
  }
  return std::nullopt;
}
}  // namespace

std::optional<std::size_t> find_siblings(const restart::PartBegin& begin,
                                         const StubHandles& stubs) {
  if (begin.rank_count < 2) return std::nullopt;
  if (const auto found = find_beside(begin, begin.path, begin.masked_names)) return found;
  // A program that renames its files when they are done leaves none under the others' names.
  const StubHandles::Found now = stubs.find(begin.part);
  if (now.fate == StubHandles::Fate::present && now.path != begin.path) {
    const auto names = restart::masked_names(now.path, begin.rank, begin.rank_count);
    if (const auto found = find_beside(begin, now.path, names))
      return *found < begin.masked_names.size() ? *found : 0;
  }
  for (std::size_t i = 0; i < begin.masked_names.size(); ++i) {
    if (has_containers(begin, begin.masked_names[i])) return i;
  }
  return std::nullopt;
}

}  // namespace mcr::aggregation
