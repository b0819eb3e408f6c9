// SPDX-License-Identifier: BSD-3-Clause
// How far a launch's clock is behind the sets in the directories that it writes to. Generations of
// different launches are ordered by the time when they were begun, which their nodes' clocks give.
// With a clock that is behind, they would count as older than the sets that they follow.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "restart/format/journal.hpp"
#include "restart/stage/stage.hpp"

namespace mcr::aggregation {

/// Thread-safe: the leader's loop remembers; the drain's thread looks, because storage may be slow.
class LaunchClock {
 public:
  explicit LaunchClock(const restart::LaunchDirectory& directory) : directory_(directory) {}

  /// Remembers where a part of this launch goes and when it was begun.
  void remember(const restart::PartBegin& begin);
  /// True if the launch writes into a directory that was not yet searched for other launches' sets.
  [[nodiscard]] bool has_news() const;
  /// Searches these directories for sets of other launches that count as begun later than the first
  /// part, and records the difference in the launch's directory. It is at least the difference
  /// recorded in the launch's own sets, because an earlier program of the launch may have had
  /// another launch directory.
  /// Call this before the first commit in a directory, but not long after the launch ended: sets of
  /// later launches may be there by then.
  void look();

 private:
  struct Begun {
    std::string launch;
    std::uint64_t begin_ns = 0;
  };

  const restart::LaunchDirectory& directory_;
  mutable std::mutex mutex_;
  std::map<std::string, Begun> known_;  ///< by directory of containers: the first part there
  std::set<std::string> to_look_at_;
};

}  // namespace mcr::aggregation
