// SPDX-License-Identifier: BSD-3-Clause
// Estimates how long a process needs to copy a directory.
#pragma once

#include <cstdint>
#include <string>

namespace mcr::aggregation {

/// Returns how many milliseconds a slow copy (20 MB/s) of everything below `directory` takes: at least
/// 2 s, at most 10 min. Returns 10 min if the directory has more than 2,000 names. Does not change
/// access times.
std::uint64_t copy_time_ms(const std::string& directory);

}  // namespace mcr::aggregation
