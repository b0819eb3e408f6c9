// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/whole_in_storage.hpp"

#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>

#include "aggregation/commit/set_files.hpp"
#include "restart/base/fitting_names.hpp"
#include "restart/sets/own_containers.hpp"

namespace mcr::aggregation {

namespace {

/// More sets are not awaited: the oldest one is forgotten, so that sets older than it wait for the next one.
constexpr std::size_t most_awaited = 64;

/// True if the ranks in the names of these containers are all ranks of the launch.
bool account_for_all(const std::vector<std::string>& names, std::uint32_t rank_count) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> runs;
  for (const std::string& name : names) {
    if (const auto parsed = restart::parse_container_name(name))
      runs.emplace_back(parsed->first_rank, parsed->last_rank);
  }
  std::sort(runs.begin(), runs.end());
  std::uint64_t covered = 0;
  for (const auto& [first, last] : runs) {
    if (first > covered) return false;
    covered = std::max<std::uint64_t>(covered, std::uint64_t{last} + 1);
  }
  return covered >= rank_count;
}

bool is_whole(const SetName& name, const SetPlace& place, std::uint32_t rank_count) {
  const auto home = restart::open_own_containers(place.where.directory);
  if (!home) return false;
  auto names = restart::list_fitting_names(home->descriptor(), ".", [&](const std::string& found) {
    return found.starts_with(place.where.prefix) && restart::is_container_name(found);
  });
  if (!names || !account_for_all(*names, rank_count)) return false;
  for (std::string& container : *names) container = place.where.directory + "/" + container;
  std::vector<Error> unreadable;
  const auto sets = stored_sets(*names, unreadable);
  return std::any_of(sets.begin(), sets.end(), [&](const StoredSet& set) {
    return set.name == name && set.owner == ::geteuid() && set.wholeness == Wholeness::whole;
  });
}

}  // namespace

void AwaitedSets::add(const SetName& set, const SetPlace& place, std::uint32_t rank_count) {
  if (sets_.size() >= most_awaited) sets_.erase(sets_.begin());
  sets_[set] = {place, rank_count};
}

std::vector<SetName> AwaitedSets::take_whole() {
  std::vector<SetName> whole;
  for (auto at = sets_.begin(); at != sets_.end();) {
    if (!is_whole(at->first, at->second.place, at->second.rank_count)) {
      ++at;
      continue;
    }
    whole.push_back(at->first);
    at = sets_.erase(at);
  }
  return whole;
}

}  // namespace mcr::aggregation
