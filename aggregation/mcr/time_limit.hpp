// SPDX-License-Identifier: BSD-3-Clause
// The longest time that a whole command may take (--timeout), in all of its phases together.
#pragma once

#include <algorithm>
#include <cstdint>

#include "restart/base/system.hpp"

namespace mcr::aggregation {

class TimeLimit {
 public:
  explicit TimeLimit(std::uint64_t ms) : end_ms_(restart::monotonic_ms() + std::min(ms, most_ms)) {}

  [[nodiscard]] std::uint64_t left_ms() const {
    const std::uint64_t now_ms = restart::monotonic_ms();
    return now_ms < end_ms_ ? end_ms_ - now_ms : 0;
  }
  /// The same limit, `ms` later.
  [[nodiscard]] TimeLimit later_by(std::uint64_t ms) const { return TimeLimit(left_ms() + ms); }

 private:
  static constexpr std::uint64_t most_ms = 1'000'000'000;  ///< poll() takes an int
  std::uint64_t end_ms_;
};

}  // namespace mcr::aggregation
