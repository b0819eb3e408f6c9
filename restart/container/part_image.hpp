// SPDX-License-Identifier: BSD-3-Clause
// A part read from a container: only the frames that a read touches are decoded. Each open part
// keeps a few decoded frames (restart/container/frame_bytes) and the last page of its map, so its
// memory does not grow with the part.
#pragma once

#include <memory>

#include "restart/container/container_reader.hpp"
#include "restart/container/shared_frames.hpp"
#include "restart/format/part_source.hpp"

namespace mcr::restart {

/// Opens the part with the record `part`, which must be one of container->parts(). If `share` is
/// given, frames that also hold bytes of other parts are decoded once for all ranks that share
/// them.
Result<std::unique_ptr<PartSource>> open_part_image(std::shared_ptr<ContainerReader> container,
                                                    const PartRecord& part,
                                                    std::shared_ptr<FrameShare> share = nullptr);

}  // namespace mcr::restart
