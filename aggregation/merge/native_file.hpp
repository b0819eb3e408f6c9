// SPDX-License-Identifier: BSD-3-Clause
// Opens HDF5 files for the leader.
#pragma once

#include <string>

#include "aggregation/merge/owned_id.hpp"
#include "codecs/base/result.hpp"

namespace mcr::aggregation {

/// Opens an HDF5 file read-only and without file locks. Uses HDF5's own connector and driver,
/// whatever the environment says. From the first call on, this process loads no HDF5 plugins and
/// prints no HDF5 errors. Cause::damaged: the file does not open.
Result<OwnedId> open_natively(const std::string& path);

}  // namespace mcr::aggregation
