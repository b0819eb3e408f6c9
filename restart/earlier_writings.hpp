// SPDX-License-Identifier: BSD-3-Clause
// What a launch wrote before this process began: a launcher may start several programs in turn in each
// rank (`mpiexec sh -c "a; b"`), all of them in one launch. Two writings of a name must not become one
// generation, or a set of which only some ranks wrote the second would pass for whole.
#pragma once

#include <cstdint>
#include <string_view>

#include "restart/format/journal.hpp"
#include "restart/stage.hpp"

namespace mcr::restart {

/// The sequence with which the launch's count for begin.path goes on in this rank, by what is in the
/// stage and beside the checkpoints; 0 where nothing was written. Where the program renames its files
/// nothing at the path itself tells. `begin` says launch, rank, path and masked names.
std::uint64_t sequence_after_earlier(const LaunchDirectory& directory, const PartBegin& begin,
                                     std::string_view container_dir);

}  // namespace mcr::restart
