// SPDX-License-Identifier: BSD-3-Clause
// A part whose set is held in the stage (flush=): its bytes lie in a container in the launch's directory.
#pragma once

#include <memory>
#include <optional>

#include "restart/container/container_reader.hpp"
#include "restart/container/shared_frames.hpp"
#include "restart/format/part_source.hpp"
#include "restart/stage/stage.hpp"

namespace mcr::restart {

/// Opens the part if it is published in `directory`, and held. Returns nothing if it is not, or no longer.
/// `share`: see open_part(). If `begin` is given, it gets the journal's.
Result<std::unique_ptr<PartSource>> open_held_part(const LaunchDirectory& directory,
                                                   const PartId& part,
                                                   const std::shared_ptr<FrameShare>& share,
                                                   PartBegin* begin = nullptr);

}  // namespace mcr::restart
