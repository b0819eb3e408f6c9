// SPDX-License-Identifier: BSD-3-Clause
// For a process that becomes another program. Only system calls, so that it may be used between clone() and exec.
#pragma once

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace mcr::restart {

/// Closes all descriptors but those of the standard streams.
inline void close_all_but_standard() {
  constexpr unsigned first = 3;
#ifdef SYS_close_range
  if (::syscall(SYS_close_range, first, ~0U, 0U) == 0) return;
#endif
  // Linux before 5.9 has no close_range().
  constexpr rlim_t most = 65536;
  rlimit limit{most, most};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const auto end = static_cast<int>(limit.rlim_cur < most ? limit.rlim_cur : most);
  for (int descriptor = first; descriptor < end; ++descriptor) ::close(descriptor);
}

}  // namespace mcr::restart
