// SPDX-License-Identifier: BSD-3-Clause
// A part over a container: only the frames that a read touches are decoded; a small cache of decoded
// frames belongs to each open part.
#pragma once

#include <memory>

#include "restart/container_reader.hpp"
#include "restart/part_source.hpp"

namespace mcr::restart {

/// The part of `rank` (and of that id, where given) in the container; Cause::usage where it holds none.
Result<std::unique_ptr<PartSource>> open_part_image(std::shared_ptr<ContainerReader> container,
                                                    const PartRecord& part);

}  // namespace mcr::restart
