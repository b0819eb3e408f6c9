// SPDX-License-Identifier: BSD-3-Clause
// How long somebody may need who copies a directory.
#pragma once

#include <cstdint>
#include <string>

namespace mcr::aggregation {

/// Milliseconds that a slow copy (20 MB/s) of what `directory` holds, at any depth, takes: at least two
/// seconds, at most ten minutes, and these also for more names than are worth counting. Leaves access
/// times alone.
std::uint64_t copy_time_ms(const std::string& directory);

}  // namespace mcr::aggregation
