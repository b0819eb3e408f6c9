// SPDX-License-Identifier: BSD-3-Clause
// Copies of containers that were made after mcr first wrote into their directory.
// docs/design/trust-boundaries.md, "A container that the user has copied".
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>

#include "restart/container/own_file.hpp"

namespace mcr::restart {

/// Tells copies that were in the directory before mcr first wrote there from later ones. The earlier ones came with the directory:
/// somebody has moved or copied a whole run. Add all containers of this user and of root first.
class LateCopies {
 public:
  /// `order_ns`: the time of the newest set in the container (SetIdentity::order()).
  void add(const FileOrigin& origin, std::uint64_t order_ns) {
    if (origin.is_copy || origin.since_ns == 0) return;
    if (since_ns_ == 0 || origin.since_ns < since_ns_) since_ns_ = origin.since_ns;
    std::uint64_t& known = orders_[origin.born_ns];
    known = std::max(known, order_ns);
    is_summed_ = false;
  }

  /// Files that were made in one tick of the file system's clock have the same birth time, so a copy with the time of the first
  /// container is no late one.
  [[nodiscard]] bool is_late(const FileOrigin& origin) const {
    return origin.is_copy && since_ns_ != 0 && origin.born_ns > since_ns_;
  }

  /// Returns the latest time that a late copy can tell of its sets: when it was made or, if clocks were ahead, the time of the newest
  /// set that had been written in the directory by then. Returns 0 if the file is no late copy.
  [[nodiscard]] std::uint64_t latest_ns(const FileOrigin& origin) {
    if (!is_late(origin)) return 0;
    if (!std::exchange(is_summed_, true)) {
      std::uint64_t newest = 0;
      for (auto& [born_ns, order_ns] : orders_) order_ns = newest = std::max(newest, order_ns);
    }
    const auto after = orders_.upper_bound(origin.born_ns);
    return after == orders_.begin() ? origin.born_ns
                                    : std::max(origin.born_ns, std::prev(after)->second);
  }

 private:
  std::uint64_t since_ns_ = 0;
  /// By birth time of an original. Once summed, the greatest time of all originals that are not younger.
  std::map<std::uint64_t, std::uint64_t> orders_;
  bool is_summed_ = false;
};

}  // namespace mcr::restart
