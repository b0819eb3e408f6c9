// SPDX-License-Identifier: BSD-3-Clause
// The environment variable by which a leader's glibc asks for huge pages for large buffers. It
// matters where the system leaves that to programs (`madvise` in
// /sys/kernel/mm/transparent_hugepage/enabled): a leader's buffers are filled once or a few times,
// so that page faults are a tenth of its time. glibc reads the variable only when a program starts,
// so the process that starts a leader sets it. Versions of glibc before 2.35 ignore it.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace mcr::restart {

/// Adds the variable to a leader's environment, unless the user has set it.
inline void ask_for_huge_pages(std::vector<std::string>& environment) {
  const auto is_tunables = [](const std::string& entry) {
    return entry.starts_with("GLIBC_TUNABLES=");
  };
  if (std::none_of(environment.begin(), environment.end(), is_tunables))
    environment.emplace_back("GLIBC_TUNABLES=glibc.malloc.hugetlb=1");
}

}  // namespace mcr::restart
