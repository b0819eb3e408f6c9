// SPDX-License-Identifier: BSD-3-Clause
// Times in the form used in logs and messages.
#pragma once

#include <cstdint>
#include <ctime>
#include <string>

#include "restart/base/system.hpp"

namespace mcr::restart {

/// Returns the time, such as "2026-11-21T15:43:01Z". gmtime_r needs no time zone file.
inline std::string time_stamp(std::uint64_t time_ns) {
  const auto seconds = static_cast<time_t>(time_ns / 1'000'000'000);
  struct tm calendar {};
  ::gmtime_r(&seconds, &calendar);
  char text[32] = {};
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &calendar);
  return text;
}

/// The present time.
inline std::string time_stamp() { return time_stamp(clock_ns(CLOCK_REALTIME)); }

}  // namespace mcr::restart
