// SPDX-License-Identifier: BSD-3-Clause
// Opens a container for a subcommand.
#pragma once

#include <memory>
#include <string>

#include "codecs/base/result.hpp"
#include "restart/container/container_reader.hpp"

namespace mcr::aggregation {

/// Cause::unsupported: the file is not damaged, but another program such as h5repack has rewritten
/// it. HDF5 can read its datasets, but the data is no longer where the index says.
Result<std::shared_ptr<restart::ContainerReader>> open_container(const std::string& name);

}  // namespace mcr::aggregation
