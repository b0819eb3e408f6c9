// SPDX-License-Identifier: BSD-3-Clause
// Opens a container for a subcommand.
#pragma once

#include <memory>
#include <string>

#include "codecs/base/result.hpp"
#include "restart/container/container_reader.hpp"

namespace mcr::aggregation {

/// Cause::unsupported if the file is not damaged, but was rewritten by another program such as
/// h5repack: HDF5 reads its datasets, but its data is not where the index says.
Result<std::shared_ptr<restart::ContainerReader>> open_container(const std::string& name);

}  // namespace mcr::aggregation
