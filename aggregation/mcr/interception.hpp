// SPDX-License-Identifier: BSD-3-Clause
// Is a program really intercepted? Only a look from outside can say: HDF5 1.10 ignores connectors
// in silence, 1.14 goes on natively when it does not find one, a static HDF5 loads none. The
// dynamic loader itself is asked (LD_DEBUG=files): which HDF5 did each process load, and did that
// load our plugin.
#pragma once

#include <string>
#include <vector>

#include "codecs/base/result.hpp"

namespace mcr::aggregation {

struct Interception {
  std::size_t processes = 0;           ///< that the loader told of
  std::vector<std::string> libraries;  ///< HDF5 libraries that were loaded
  std::size_t with_hdf5 = 0;           ///< processes that loaded one
  std::size_t with_plugin = 0;         ///< of these, those in which our plugin was loaded
  std::size_t linked_in = 0;           ///< of these, those that have HDF5 in the program itself
};

/// Reads what the loader wrote into `directory` (LD_DEBUG_OUTPUT=directory/loaded).
Result<Interception> read_loader_logs(const std::string& directory, const std::string& plugin);

/// What a library file says of its version ("1.14.5"), by the text that every HDF5 carries; ""
/// where it is no HDF5. Also for programs with HDF5 linked in statically.
std::string hdf5_version_in(const std::string& path);

}  // namespace mcr::aggregation
