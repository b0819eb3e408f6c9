// SPDX-License-Identifier: BSD-3-Clause
// A container for a subcommand to read.
#pragma once

#include <memory>
#include <string>

#include "codecs/base/result.hpp"
#include "restart/container/container_reader.hpp"

namespace mcr::aggregation {

/// Cause::unsupported where the file is no damaged container but what another program, such as
/// h5repack, has made of one: HDF5 reads its datasets, and nothing is where the index says.
Result<std::shared_ptr<restart::ContainerReader>> open_container(const std::string& name);

}  // namespace mcr::aggregation
