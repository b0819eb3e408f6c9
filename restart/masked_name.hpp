// SPDX-License-Identifier: BSD-3-Clause
// Which run of digits in a path is the rank (design.md 4.1). Pure: the same answer in every process.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mcr::restart {

/// `path` with the rank's digits as `{rank}`, most likely candidate first; empty where no run fits.
std::vector<std::string> masked_names(std::string_view path, std::uint32_t rank,
                                      std::uint32_t rank_count);

/// The path of another rank under a masked name; digits keep the width that `path` (of `rank`) has.
std::string sibling_path(std::string_view path, std::string_view masked_name, std::uint32_t rank,
                         std::uint32_t other_rank);

/// The masked name with its other numbers masked too (`{n}`): the *pattern*, or *shape* of a name.
std::string pattern_of(std::string_view masked_name);

}  // namespace mcr::restart
