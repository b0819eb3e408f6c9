// SPDX-License-Identifier: BSD-3-Clause
#include "restart/open/drain_progress.hpp"

#include <fcntl.h>

#include "restart/base/durable_replace.hpp"
#include "restart/base/file.hpp"
#include "restart/base/system.hpp"
#include "restart/stage/stage.hpp"

namespace mcr::restart {
namespace {

constexpr std::uint64_t look_again_ms = 500;
constexpr std::uint64_t longest = 10;  ///< limit on the whole wait, in units of still_ms

}  // namespace

DrainProgress::DrainProgress(std::uint64_t still_ms)
    : still_ms_(still_ms), begin_ms_(monotonic_ms()), moved_ms_(begin_ms_) {}

bool DrainProgress::has_stopped(const std::set<std::string>& launches,
                                const std::string& containers) {
  const std::uint64_t now = monotonic_ms();
  if (now - begin_ms_ >= longest * still_ms_) return true;
  if (looked_ms_ == 0 || now - looked_ms_ >= look_again_ms) {
    const State state = look(launches, containers);
    if (state != last_) moved_ms_ = now;
    last_ = state;
    looked_ms_ = now;
  }
  return now - moved_ms_ >= still_ms_;
}

DrainProgress::State DrainProgress::look(const std::set<std::string>& launches,
                                         const std::string& containers) {
  using Place = LaunchDirectory::State;
  std::size_t parts = 0;
  for (const std::string& launch : launches) {
    const auto directory = LaunchDirectory::open(launch);
    if (!directory) continue;
    for (const Place place : {Place::open, Place::published}) {
      if (const auto found = directory->list(place)) parts += found->size();
    }
  }
  std::size_t count = 0;
  std::uint64_t blocks = 0;
  if (const auto home = File::open(AT_FDCWD, containers, O_RDONLY | O_DIRECTORY)) {
    const auto names = list_directory(home->descriptor(), ".");
    if (!names) return {parts, count, blocks};
    count = names->size();
    for (const std::string& name : *names) {
      struct stat status {};
      if (name.starts_with(temporary_prefix) &&
          system_calls().fstatat(home->descriptor(), name.c_str(), &status, 0) == 0)
        blocks += static_cast<std::uint64_t>(status.st_blocks);
    }
  }
  return {parts, count, blocks};
}

}  // namespace mcr::restart
