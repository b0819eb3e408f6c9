// SPDX-License-Identifier: BSD-3-Clause
// Finds the ranks that may have a file under a masked name. The number of ranks comes from a stub,
// and a small stub may claim four billion. So the work must grow with the number of existing files,
// not with the number of ranks.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace mcr::restart {

/// Up to this many ranks, each rank's name is looked up, which is cheaper than listing a directory
/// with many files.
inline constexpr std::uint32_t ranks_looked_up = 1024;

/// Returns the ranks below `rank_count` that may have a file under `masked_name`, which is a path.
/// If there are at most `ranks_looked_up` ranks, these are all. Otherwise these are the ranks whose
/// number stands in the name of a file or directory, at the place of the first {rank}; each
/// directory with a masked name in it is listed once.
///
/// If a directory may be searched but not listed, the ranks are tried in order until `most_misses` of
/// them have no file. `exists(rank)` says whether the rank has a file.
template <typename Exists>
std::set<std::uint32_t> ranks_to_probe(std::string_view masked_name, std::uint32_t rank_count,
                                       Exists exists);

namespace detail {
/// False if a directory could not be listed.
bool list_ranks(std::string_view masked_name, std::uint32_t rank_count,
                std::set<std::uint32_t>& ranks);
/// All misses count, not only misses in a row: a few files, far apart, must not keep the search going.
inline constexpr std::uint32_t most_misses = 262'144;
}  // namespace detail

template <typename Exists>
std::set<std::uint32_t> ranks_to_probe(std::string_view masked_name, std::uint32_t rank_count,
                                       Exists exists) {
  std::set<std::uint32_t> ranks;
  if (rank_count <= ranks_looked_up) {
    for (std::uint32_t rank = 0; rank < rank_count; ++rank) ranks.insert(ranks.end(), rank);
    return ranks;
  }
  if (detail::list_ranks(masked_name, rank_count, ranks)) return ranks;
  std::uint32_t misses = 0;
  for (std::uint32_t rank = 0; rank < rank_count && misses < detail::most_misses; ++rank) {
    if (exists(rank)) {
      ranks.insert(ranks.end(), rank);
    } else {
      ++misses;
    }
  }
  return ranks;
}

}  // namespace mcr::restart
