// SPDX-License-Identifier: BSD-3-Clause
#include "restart/base/open_elsewhere.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#include <cerrno>
#include <csignal>

namespace mcr::restart {

bool is_open_elsewhere(const File& file) {
  struct statfs storage {};
  // NFS refuses a lease for reasons of its own.
  if (::fstatfs(file.descriptor(), &storage) != 0 || storage.f_type == NFS_SUPER_MAGIC)
    return false;
  // An open in this moment sends a signal to the lease's owner. SIGIO, the usual one, would end the process.
  if (::fcntl(file.descriptor(), F_SETSIG, SIGURG) != 0) return false;
  // The kernel gives a write lease only for a file that nobody else has open.
  if (::fcntl(file.descriptor(), F_SETLEASE, F_WRLCK) != 0) return errno == EAGAIN;
  (void)::fcntl(file.descriptor(), F_SETLEASE, F_UNLCK);
  return false;
}

}  // namespace mcr::restart
