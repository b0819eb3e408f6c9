// SPDX-License-Identifier: BSD-3-Clause
// A part over a container: only the frames that a read touches are decoded. A few decoded frames
// and the map page used last belong to each open part; nothing else grows with the part.
#pragma once

#include <memory>

#include "restart/container_reader.hpp"
#include "restart/part_source.hpp"

namespace mcr::restart {

/// The part that `part`, one of container->parts(), describes.
Result<std::unique_ptr<PartSource>> open_part_image(std::shared_ptr<ContainerReader> container,
                                                    const PartRecord& part);

}  // namespace mcr::restart
