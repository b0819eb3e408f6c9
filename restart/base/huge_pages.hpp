// SPDX-License-Identifier: BSD-3-Clause
// The environment variable by which a leader's glibc asks for huge pages for large buffers. It
// matters where the system leaves that to programs (`madvise` in
// /sys/kernel/mm/transparent_hugepage/enabled): a leader's buffers are filled once or a few times,
// so that page faults are a tenth of its time. glibc reads the variable only when a program starts,
// so the process that starts a leader sets it. Versions of glibc before 2.35 ignore it.
#pragma once

#include <string_view>

namespace mcr::restart {

inline constexpr std::string_view tunables_variable = "GLIBC_TUNABLES=";
inline constexpr std::string_view huge_pages_for_leader = "GLIBC_TUNABLES=glibc.malloc.hugetlb=1";

}  // namespace mcr::restart
