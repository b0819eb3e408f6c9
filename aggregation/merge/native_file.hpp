// SPDX-License-Identifier: BSD-3-Clause
// HDF5 files as the leader opens them.
#pragma once

#include <string>

#include "aggregation/merge/owned_id.hpp"
#include "codecs/base/result.hpp"

namespace mcr::aggregation {

/// Opens an HDF5 file read only, by HDF5's own connector and driver whatever the environment says,
/// and without its file locks. From then on this process loads no plugin of HDF5 and prints none of
/// its errors. Cause::damaged: it does not open.
Result<OwnedId> open_natively(const std::string& path);

}  // namespace mcr::aggregation
