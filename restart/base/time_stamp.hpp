// SPDX-License-Identifier: BSD-3-Clause
// The present time in the form used in logs.
#pragma once

#include <ctime>
#include <string>

#include "restart/base/system.hpp"

namespace mcr::restart {

/// Returns the present time, such as "2026-11-21T15:43:01Z". gmtime_r needs no time zone file.
inline std::string time_stamp() {
  const auto seconds = static_cast<time_t>(clock_ns(CLOCK_REALTIME) / 1'000'000'000);
  struct tm calendar {};
  ::gmtime_r(&seconds, &calendar);
  char text[32] = {};
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &calendar);
  return text;
}

}  // namespace mcr::restart
