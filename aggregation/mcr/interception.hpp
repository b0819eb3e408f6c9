// SPDX-License-Identifier: BSD-3-Clause
// Tells whether a program is really intercepted. The program itself cannot tell: HDF5 1.10 ignores
// connectors without a message, HDF5 1.14 goes on natively if it does not find the connector, and a
// static HDF5 loads no connector. So the evidence is the log of the dynamic loader
// (LD_DEBUG=files), which shows which HDF5 each process loaded, and whether that HDF5 loaded our
// plugin.
#pragma once

#include <string>
#include <vector>

#include "codecs/base/result.hpp"

namespace mcr::aggregation {

struct Interception {
  std::size_t processes = 0;           ///< processes in the loader's log
  std::vector<std::string> libraries;  ///< HDF5 libraries that were loaded
  std::size_t with_hdf5 = 0;           ///< processes that loaded an HDF5 library
  std::size_t with_plugin = 0;         ///< processes with HDF5 in which our plugin was loaded
  std::size_t linked_in = 0;  ///< processes with our plugin that have HDF5 linked into the program
};

/// Reads the logs that the loader wrote into `directory` (LD_DEBUG_OUTPUT=directory/loaded).
Result<Interception> read_loader_logs(const std::string& directory, const std::string& plugin);

/// Returns the version of the HDF5 in a file ("1.14.5"), from the text that every HDF5 contains; ""
/// if there is no HDF5 in the file. The file may be a library, or a program with HDF5 linked in
/// statically.
std::string hdf5_version_in(const std::string& path);

}  // namespace mcr::aggregation
