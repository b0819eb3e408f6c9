// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace mcr::restart {

/// "1 part", "2 parts": for messages. `one` is a noun whose plural ends in s.
inline std::string counted(std::uint64_t count, std::string_view one) {
  return std::to_string(count).append(" ").append(one).append(count == 1 ? "" : "s");
}

}  // namespace mcr::restart
