// SPDX-License-Identifier: BSD-3-Clause
// Whether a program is really intercepted. Only an observer outside can tell: HDF5 1.10 ignores
// connectors without a message, 1.14 goes on natively if it does not find the connector, and a
// static HDF5 loads none. The log of the dynamic loader (LD_DEBUG=files) shows which HDF5 each
// process loaded, and whether that HDF5 loaded our plugin.
#pragma once

#include <string>
#include <vector>

#include "codecs/base/result.hpp"

namespace mcr::aggregation {

struct Interception {
  std::size_t processes = 0;           ///< processes in the loader's log
  std::vector<std::string> libraries;  ///< HDF5 libraries that were loaded
  std::size_t with_hdf5 = 0;           ///< processes that loaded one
  std::size_t with_plugin = 0;         ///< of these, those in which our plugin was loaded
  std::size_t linked_in = 0;           ///< of these, those that have HDF5 in the program itself
};

/// Reads what the loader wrote into `directory` (LD_DEBUG_OUTPUT=directory/loaded).
Result<Interception> read_loader_logs(const std::string& directory, const std::string& plugin);

/// Returns the version in a library file ("1.14.5"), from the text that every HDF5 contains; "" if
/// the file is not an HDF5. Also for programs with HDF5 linked in statically.
std::string hdf5_version_in(const std::string& path);

}  // namespace mcr::aggregation
