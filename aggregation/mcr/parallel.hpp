// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "restart/container/unpack.hpp"

namespace mcr::aggregation {

/// Returns a loop that runs on `threads` threads (oneTBB).
restart::ParallelFor parallel_on(unsigned threads);

}  // namespace mcr::aggregation
