// SPDX-License-Identifier: BSD-3-Clause
// Lists directories to which other users may add names. Only the names that fit are kept, and not
// without limit.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "codecs/base/result.hpp"

namespace mcr::restart {

/// Enough for a million short names, and for 200,000 of the longest names.
inline constexpr std::size_t most_kept_bytes = std::size_t{64} * 1024 * 1024;

/// Returns the names in a directory for which `fits` returns true, sorted. If they fill more than
/// `most_kept_bytes`, the directory counts as not listable: EOVERFLOW.
Result<std::vector<std::string>> list_fitting_names(
    int directory, const std::string& name, const std::function<bool(const std::string&)>& fits);

/// Calls `take` for each name except "." and "..", with the kind of file that the directory states
/// for it (d_type; DT_UNKNOWN: not stated), until it returns false.
Result<void> for_each_entry(int directory, const std::string& name,
                            const std::function<bool(std::string, unsigned char)>& take);
/// Calls `take` for each name except "." and "..", until it returns false.
Result<void> for_each_name(int directory, const std::string& name,
                           const std::function<bool(std::string)>& take);

}  // namespace mcr::restart
