// SPDX-License-Identifier: BSD-3-Clause
// Copies a file that is whole to storage, with several writes in flight.
#pragma once

#include <cstdint>

#include "restart/base/file.hpp"

namespace mcr::aggregation {

/// Copies the first `bytes` of `from` to the same places in `to`, by `streams` threads. Syncs nothing.
Result<void> copy_in_streams(const restart::File& from, const restart::File& to,
                             std::uint64_t bytes, unsigned streams);

}  // namespace mcr::aggregation
