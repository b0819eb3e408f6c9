// SPDX-License-Identifier: BSD-3-Clause
// Single writer, multiple readers.
#pragma once

namespace mcr::vol {

/// What a handle of HDF5 is in a file that one process writes while others read it (SWMR).
enum class SwmrRole { none, writer, reader };

}  // namespace mcr::vol
