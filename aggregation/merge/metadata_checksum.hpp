// SPDX-License-Identifier: BSD-3-Clause
// The checksum of HDF5's metadata: Jenkins' lookup3 ("HDF5 File Format Specification", VIII.A).
#pragma once

#include <cstdint>

#include "codecs/base/bytes.hpp"

namespace mcr::aggregation {

std::uint32_t metadata_checksum(ByteSpan bytes);

/// Returns true if the last 4 bytes are the checksum of the bytes before them.
bool ends_with_checksum(ByteSpan bytes);

}  // namespace mcr::aggregation
