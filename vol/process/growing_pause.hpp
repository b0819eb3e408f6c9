// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <ctime>

namespace mcr::vol {

/// Pauses a wait that has lasted for `waited_ms`: for a tenth of that time, at least 1 ms and at most 50 ms.
inline void pause_in_wait(std::uint64_t waited_ms) {
  const auto ms = std::clamp<std::uint64_t>(waited_ms / 10, 1, 50);
  const timespec pause{0, static_cast<long>(ms * 1'000'000)};
  nanosleep(&pause, nullptr);
}

}  // namespace mcr::vol
