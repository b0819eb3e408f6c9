// SPDX-License-Identifier: BSD-3-Clause
// The time at which the scheduler will kill the job, and whether the leader commits what waits before
// that time.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "restart/settings/settings.hpp"

namespace mcr::aggregation {

/// The leader's loop calls set_waiting() and is_near(); the drain's thread calls measure() and
/// needs_speed(). Times are milliseconds since 1970.
class Deadline {
 public:
  explicit Deadline(std::optional<std::uint64_t> end_ms) : end_ms_(end_ms) {}
  /// From the setting deadline= and, if it says `auto`, the environment.
  explicit Deadline(const restart::Settings& settings);

  /// True in the last five minutes. The leader then has full priority.
  [[nodiscard]] bool is_near(std::uint64_t now_ms) const;

  /// How many bytes wait for their commit, including those that are being drained.
  void set_waiting(std::uint64_t bytes) { waiting_bytes_ = bytes; }
  /// Records that a drain of parts with `bytes` bytes took `ms` milliseconds.
  void measure(std::uint64_t bytes, std::uint64_t ms);
  /// True if, at the speed of the last drain, what waits may not be committed in time. Once true it
  /// stays true: with a faster profile the speed would look sufficient, and the next drain would be slow
  /// again.
  [[nodiscard]] bool needs_speed(std::uint64_t now_ms);

 private:
  std::optional<std::uint64_t> end_ms_;
  std::atomic<std::uint64_t> waiting_bytes_ = 0;
  double bytes_per_ms_ = 20e3;  ///< before the first drain: that of one slow core
  bool needs_speed_ = false;
};

}  // namespace mcr::aggregation
