// SPDX-License-Identifier: BSD-3-Clause
// SWMR: single writer, multiple readers.
#pragma once

namespace mcr::vol {

/// The role of an HDF5 handle in a file that one process writes while others read it (SWMR).
enum class SwmrRole { none, writer, reader };

}  // namespace mcr::vol
