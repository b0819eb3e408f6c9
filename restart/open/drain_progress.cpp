// SPDX-License-Identifier: BSD-3-Clause
#include "restart/open/drain_progress.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "restart/base/durable_replace.hpp"
#include "restart/base/file.hpp"
#include "restart/base/fitting_names.hpp"
#include "restart/base/system.hpp"
#include "restart/base/trust.hpp"
#include "restart/sets/look.hpp"
#include "restart/stage/stage.hpp"

namespace mcr::restart {
namespace {

constexpr std::uint64_t look_again_ms = 500;
/// After a whole wait in vain, a wait for the same launches in the same state ends after this time.
constexpr std::uint64_t known_still_ms = 1000;

/// What this process has waited for in vain: parts in the stage, and blocks of unfinished containers.
struct Still {
  std::mutex mutex;
  std::map<std::set<std::string>, std::pair<std::size_t, std::uint64_t>> launches;
};
Still& still() {
  // Never destroyed: HDF5 closes files after static destructors have run.
  static Still& still = *new Still;
  return still;
}

}  // namespace

DrainProgress::DrainProgress(std::uint64_t still_ms)
    : still_ms_(still_ms), begin_ms_(monotonic_ms()), moved_ms_(begin_ms_) {}

bool DrainProgress::has_stopped(const std::set<std::string>& launches,
                                const std::string& containers, uid_t owner) {
  const std::uint64_t now = monotonic_ms();
  if (now - begin_ms_ >= longest * still_ms_) return true;
  if (looked_ms_ == 0 || now - looked_ms_ >= look_again_ms) {
    const bool is_first = looked_ms_ == 0;
    const State state = look(launches, containers, owner);
    const std::pair seen{std::get<0>(state), std::get<2>(state)};
    const std::lock_guard lock(still().mutex);
    const auto known = still().launches.find(launches);
    is_known_ = (is_first || is_known_) && known != still().launches.end() && known->second == seen;
    if (state != last_) moved_ms_ = now;
    last_ = state;
    looked_ms_ = now;
  }
  if (now - moved_ms_ >= still_ms_) {
    const std::lock_guard lock(still().mutex);
    still().launches[launches] = {std::get<0>(last_), std::get<2>(last_)};
    return true;
  }
  return is_known_ && now - moved_ms_ >= known_still_ms;
}

DrainProgress::State DrainProgress::look(const std::set<std::string>& launches,
                                         const std::string& containers, uid_t owner) {
  using Place = LaunchDirectory::State;
  std::size_t parts = 0;
  for (const std::string& launch : launches) {
    const auto directory = LaunchDirectory::open(launch);
    if (!directory) continue;
    for (const Place place : {Place::open, Place::published}) {
      if (const auto found = directory->list(place)) parts += found->size();
    }
  }
  const auto home = File::open(AT_FDCWD, containers, O_RDONLY | O_DIRECTORY);
  if (!home) {
    known_.emplace();
    return {parts, new_containers_, 0};
  }
  const auto believes = [&](uid_t writer) {
    return is_believed(writer, owner) || is_believed(writer, ::geteuid());
  };
  // A file shows progress if a leader can have made it: not one of another user, and not another name
  // of a file that was there before.
  const auto of_leader = [&](const std::string& name) -> std::optional<struct stat> {
    struct stat status {};
    const bool counts = system_calls().fstatat(home->descriptor(), name.c_str(), &status,
                                               AT_SYMLINK_NOFOLLOW) == 0 &&
                        S_ISREG(status.st_mode) && status.st_nlink == 1 && believes(status.st_uid);
    return counts ? std::optional(status) : std::nullopt;
  };
  std::uint64_t blocks = 0;
  (void)for_each_name(home->descriptor(), ".", [&](const std::string& name) {
    const auto status = name.starts_with(temporary_prefix) ? of_leader(name) : std::nullopt;
    if (status) blocks += static_cast<std::uint64_t>(status->st_blocks);
    return true;
  }).has_value();
  auto names = list_containers(home->descriptor(), believes);
  if (!names) return {parts, new_containers_, blocks};
  // While a leader gives a container its name, the file has two names. The next look counts it.
  if (known_) {
    std::erase_if(*names, [&](const std::string& name) {
      if (std::binary_search(known_->begin(), known_->end(), name)) return false;
      const bool counts = of_leader(name).has_value();
      if (counts) ++new_containers_;
      return !counts;
    });
  }
  known_ = std::move(*names);
  return {parts, new_containers_, blocks};
}

}  // namespace mcr::restart
