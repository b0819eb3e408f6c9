// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/held_set.hpp"

#include <sys/resource.h>

#include <algorithm>

namespace mcr::aggregation {

// The kernel gives the lowest free number, so the largest one tells how many are in use.
bool leaves_descriptors(const std::vector<LockedPart>& parts) {
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return false;
  return limit.rlim_cur == RLIM_INFINITY ||
         std::all_of(parts.begin(), parts.end(), [&](const LockedPart& part) {
           return !part.bytes.is_open() ||
                  static_cast<rlim_t>(part.bytes.descriptor()) < limit.rlim_cur / 2;
         });
}

}  // namespace mcr::aggregation
