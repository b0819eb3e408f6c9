// SPDX-License-Identifier: BSD-3-Clause
#include "vol/process/stage_room.hpp"

#include <algorithm>

#include "restart/base/limits.hpp"

namespace mcr::vol {

namespace {

/// Returns the limit by memory from the leader's notice: the leader finds that limit, because
/// reading the limits of control groups takes many file reads.
std::uint64_t limit_of_memory(int descriptor, const restart::LaunchDirectory::Notice& notice) {
  if (notice.is_fresh(realtime_ns()) && notice.automatic_limit != 0) return notice.automatic_limit;
  return restart::automatic_stage_limit(descriptor, notice.stage_bytes);
}

}  // namespace

std::uint64_t stage_room(const JobStage& stage, const restart::Settings& settings) {
  const int descriptor = stage.directory.descriptor();
  const auto free_bytes = restart::free_space(descriptor);
  if (!free_bytes) return 0;
  const auto notice = stage.directory.notice();
  const std::uint64_t used = notice.stage_bytes;
  const bool given = settings.is_set("stage_limit") && settings.text("stage_limit") != "auto";
  const std::uint64_t limit =
      given ? settings.bytes("stage_limit") : limit_of_memory(descriptor, notice);
  // Pages that a part reuses from the pool are counted in both numbers, which errs on the safe
  // side.
  return used >= limit ? 0 : std::min(limit - used, *free_bytes);
}

}  // namespace mcr::vol
