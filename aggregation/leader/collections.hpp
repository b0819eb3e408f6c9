// SPDX-License-Identifier: BSD-3-Clause
// Decides when a leader removes what newer sets made superfluous: after each commit or, if
// collections are slow, only after some commits. A collection lists the directory and, with gc=on,
// reads all containers.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "aggregation/commit/collection.hpp"

namespace mcr::aggregation {

/// A collection may take long, so no commit waits for it: a thread of its own collects. Only that thread
/// calls the functions below, except where they say otherwise.
class Collections {
 public:
  /// Called by the drain's thread after the commit of `set`, whose masked name has the pattern
  /// `pattern`. If an earlier set of that pattern still waits for collect(), `set` takes its place.
  void committed(const std::string& pattern, const CommittedSet& set);

  /// Collects after the sets that were committed since the last call: now or, during a pause, later.
  void collect();

  /// Runs the delayed collections whose pause is over.
  void make_up();

  /// With gc=on, collects once more for each directory and pattern at the job's end, because a
  /// program may remove its older files only after it closed the newest.
  void finish();

  /// Returns the monotonic time at which make_up() is due. Any thread may call it.
  [[nodiscard]] std::optional<std::uint64_t> due_ms() const;

 private:
  using ByShape = std::map<std::pair<std::string, std::string>, CommittedSet>;

  void collect(const CommittedSet& set);

  std::mutex mutex_;
  ByShape committed_;  ///< guarded by mutex_: sets for the next collect()
  ByShape last_;       ///< by directory and pattern, the set that was committed last (gc=on)
  ByShape put_off_;    ///< delayed until the end of their directory's pause
  std::map<std::string, std::uint64_t> pause_end_ms_;  ///< by directory
  std::atomic<std::uint64_t> due_ms_ = 0;              ///< 0: nothing is delayed
};

}  // namespace mcr::aggregation
