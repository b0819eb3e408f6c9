// SPDX-License-Identifier: BSD-3-Clause
// A part over a container: only the frames that a read touches are decoded. A few decoded frames
// (restart/container/frame_bytes) and the map page used last belong to each open part; nothing else grows
// with the part.
#pragma once

#include <memory>

#include "restart/container/container_reader.hpp"
#include "restart/container/shared_frames.hpp"
#include "restart/format/part_source.hpp"

namespace mcr::restart {

/// The part that `part`, one of container->parts(), describes. With a `share`, frames in which
/// other parts lie too are decoded once by all ranks that share.
Result<std::unique_ptr<PartSource>> open_part_image(std::shared_ptr<ContainerReader> container,
                                                    const PartRecord& part,
                                                    std::shared_ptr<FrameShare> share = nullptr);

}  // namespace mcr::restart
