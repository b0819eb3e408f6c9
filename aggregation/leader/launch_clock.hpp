// SPDX-License-Identifier: BSD-3-Clause
// How far a launch's clock is behind the sets that lie where it writes. Generations of different
// launches are ordered by when they were begun, by the clocks of their nodes; those of a clock that
// is behind would count as older than the sets that they follow.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "restart/format/journal.hpp"
#include "restart/stage/stage.hpp"

namespace mcr::aggregation {

/// Thread-safe: the leader's loop remembers, the drain's thread looks, because storage may be slow.
class LaunchClock {
 public:
  explicit LaunchClock(const restart::LaunchDirectory& directory) : directory_(directory) {}

  /// A part of this launch that is being written, or was.
  void remember(const restart::PartBegin& begin);
  /// True if the launch writes into a directory that was not searched for other launches' sets yet.
  [[nodiscard]] bool has_news() const;
  /// Looks there for sets of other launches that count as begun later than the first part, which
  /// cannot be, and leaves the difference in the launch's directory; at least that of its own sets
  /// (an earlier program of the launch had a directory of its own in the stage). To be called
  /// before the first commit there, and not when the launch is long over: its successors' sets may
  /// lie there then.
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
