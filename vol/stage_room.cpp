// SPDX-License-Identifier: BSD-3-Clause
#include "vol/stage_room.hpp"

#include <algorithm>

#include "restart/base/limits.hpp"

namespace mcr::vol {

std::uint64_t stage_room(const JobStage& stage, const restart::Settings& settings) {
  const int descriptor = stage.directory.descriptor();
  const auto free_bytes = restart::free_space(descriptor);
  if (!free_bytes) return 0;
  const std::uint64_t used = stage.directory.notice().stage_bytes;
  const bool given = settings.is_set("stage_limit") && settings.text("stage_limit") != "auto";
  const std::uint64_t limit =
      given ? settings.bytes("stage_limit") : restart::automatic_stage_limit(descriptor, used);
  // What a part reuses from the pool is counted in both, which errs on the safe side.
  return used >= limit ? 0 : std::min(limit - used, *free_bytes);
}

}  // namespace mcr::vol
