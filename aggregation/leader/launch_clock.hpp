// SPDX-License-Identifier: BSD-3-Clause
// How far a launch's clock is behind the sets in the directories that the launch writes to.
// Generations of different launches are ordered by the times when they were begun, by the clocks of
// their nodes. If a node's clock is behind, its generations would count as older than the sets that
// they follow.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "restart/base/file_identity.hpp"
#include "restart/format/journal.hpp"
#include "restart/stage/stage.hpp"

namespace mcr::aggregation {

/// Thread-safe: the leader's loop calls remember(), and the drain's thread calls look(), because
/// storage may be slow.
class LaunchClock {
 public:
  explicit LaunchClock(const restart::LaunchDirectory& directory) : directory_(directory) {}

  /// Remembers where a part of this launch goes and when it was begun.
  void remember(const restart::PartBegin& begin);
  /// True if the launch writes into a directory that was not searched for other launches' sets yet.
  [[nodiscard]] bool has_news() const;
  /// Searches these directories for sets of other launches whose time of begin is later than that
  /// of this launch's first part. Records the difference in the launch's directory. The recorded
  /// difference is never smaller than the one in the launch's own sets, because an earlier program
  /// of the launch may have had another launch directory. Call this before the first commit in a
  /// directory, and soon: if it is called long after the launch ended, sets of later launches may
  /// be in the directory.
  void look();
  /// Searches a directory of containers again if it is not the one that was searched: the program or its user may have replaced it by
  /// a copy of another run. Call this before each commit. The cost is one system call.
  void look_if_replaced(const std::string& directory);

 private:
  struct Begun {
    std::string launch;
    std::uint64_t begin_ns = 0;
    std::optional<restart::FileIdentity> searched;  ///< none: there was no directory
  };
  void look_at(const std::string& path, const Begun& begun);

  const restart::LaunchDirectory& directory_;
  mutable std::mutex mutex_;
  /// By directory of containers: the first part that belongs there.
  std::map<std::string, Begun> known_;
  std::set<std::string> to_look_at_;
};

}  // namespace mcr::aggregation
