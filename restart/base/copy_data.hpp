// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "restart/base/file.hpp"

namespace mcr::restart {

/// Copies the bytes from `begin` to `end` to the same places in `to`, which has no data there, and
/// sets the size of `to` to `end`. Holes stay holes, as native HDF5 leaves them.
Result<void> copy_data(const File& from, const File& to, std::uint64_t begin, std::uint64_t end);

}  // namespace mcr::restart
