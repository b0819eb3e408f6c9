// SPDX-License-Identifier: BSD-3-Clause
// When a leader removes what newer sets made superfluous: after each commit, but where collections
// cost much (each lists the directory, with gc=on it reads all containers) after some commits only.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "aggregation/commit/collection.hpp"

namespace mcr::aggregation {

/// All but due_ms() is of the drain's thread.
class Collections {
 public:
  /// `pattern` is the pattern of the set's masked name. Collects now, or after a pause in which the
  /// sets that come replace one another.
  void committed(const std::string& pattern, const CommittedSet& set);

  /// Makes up for what a pause put off, where that pause is over.
  void make_up();

  /// Once more for each directory and pattern at the job's end: a program may remove its older files
  /// only after the newest is closed. gc=on alone.
  void finish();

  /// Monotonic time at which make_up() has something to do.
  [[nodiscard]] std::optional<std::uint64_t> due_ms() const;

 private:
  using ByShape = std::map<std::pair<std::string, std::string>, CommittedSet>;

  void collect(const CommittedSet& set);

  ByShape last_;     ///< by directory and pattern, the set that was committed last (gc=on)
  ByShape put_off_;  ///< of last_: those that wait for the end of their directory's pause
  std::map<std::string, std::uint64_t> pause_end_ms_;  ///< by directory
  std::atomic<std::uint64_t> due_ms_ = 0;              ///< 0: nothing is put off
};

}  // namespace mcr::aggregation
