// SPDX-License-Identifier: BSD-3-Clause
// A part whose bytes are still in the stage.
#pragma once

#include <memory>
#include <optional>

#include "restart/format/part_source.hpp"
#include "restart/stage/stage.hpp"

namespace mcr::restart {

/// Opens the part if it is published or kept in `directory`; its bytes stay locked against reuse
/// while it is open. Returns nothing if the part is not, or no longer, in `directory`. If `begin` is
/// given, it gets the journal's.
Result<std::unique_ptr<PartSource>> open_staged_part(const LaunchDirectory& directory,
                                                     const PartId& part,
                                                     PartBegin* begin = nullptr);

}  // namespace mcr::restart
