// SPDX-License-Identifier: BSD-3-Clause
// Opens a container for a subcommand.
#pragma once

#include <memory>
#include <string>

#include "aggregation/commit/held_containers.hpp"
#include "codecs/base/result.hpp"
#include "restart/container/container_reader.hpp"

namespace mcr::aggregation {

/// Opens a container in `home`. The last component of `name` is the file's name; the whole `name` stands in
/// messages. Cause::unsupported: the file is not damaged, but another program such as h5repack has rewritten
/// it. HDF5 can read its datasets, but the data is no longer where the index says.
Result<std::shared_ptr<restart::ContainerReader>> open_container(const HeldContainers& home,
                                                                 const std::string& name);
/// The same for a container that is open already.
Result<std::shared_ptr<restart::ContainerReader>> open_container(const HeldContainers& home,
                                                                 restart::File file,
                                                                 const std::string& name);
/// The same for the container at the path `name`, in the directory in which the file really lies.
Result<std::shared_ptr<restart::ContainerReader>> open_container(const std::string& name);

/// Opens the directory in which the open file lies. `name` is the path by which the file was opened. EPERM:
/// another file is at its path by now.
Result<HeldContainers> directory_of(const restart::File& file, const std::string& name);

}  // namespace mcr::aggregation
