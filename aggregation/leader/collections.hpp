// SPDX-License-Identifier: BSD-3-Clause
// Decides when a leader removes what newer sets made superfluous: after each commit or, if
// collections are slow, only after some commits. A collection lists the directory and, with gc=on,
// reads all containers.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "aggregation/commit/collection.hpp"

namespace mcr::aggregation {

/// Used only by the drain's thread, except due_ms().
class Collections {
 public:
  /// Called after the commit of `set`, whose masked name has the pattern `pattern`. Collects now
  /// or, during a pause, later; a newer set of the same pattern then takes the place of `set`.
  void committed(const std::string& pattern, const CommittedSet& set);

  /// Runs the delayed collections whose pause is over.
  void make_up();

  /// With gc=on, collects once more for each directory and pattern at the job's end, because a
  /// program may remove its older files only after it closed the newest.
  void finish();

  /// Returns the monotonic time at which make_up() is due.
  [[nodiscard]] std::optional<std::uint64_t> due_ms() const;

 private:
  using ByShape = std::map<std::pair<std::string, std::string>, CommittedSet>;

  void collect(const CommittedSet& set);

  ByShape last_;     ///< by directory and pattern, the set that was committed last (gc=on)
  ByShape put_off_;  ///< delayed until the end of their directory's pause
  std::map<std::string, std::uint64_t> pause_end_ms_;  ///< by directory
  std::atomic<std::uint64_t> due_ms_ = 0;              ///< 0: nothing is delayed
};

}  // namespace mcr::aggregation
