// SPDX-License-Identifier: BSD-3-Clause
#include "restart/base/lock.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>

#include "restart/base/system.hpp"

namespace mcr::restart {

Result<bool> try_lock(const File& file, LockKind kind) {
  const int operation = (kind == LockKind::shared ? LOCK_SH : LOCK_EX) | LOCK_NB;
  int answer = 0;
  do {
    answer = system_calls().flock(file.descriptor(), operation);
  } while (answer < 0 && errno == EINTR);
  if (answer == 0) return true;
  if (errno == EWOULDBLOCK) return false;
  return system_error("cannot lock", file.name());
}

void unlock(const File& file) { (void)system_calls().flock(file.descriptor(), LOCK_UN); }

Result<bool> try_lock_place(const File& file, std::uint64_t place) {
  int answer = 0;
  do {
    answer = system_calls().lock_place(file.descriptor(), F_WRLCK, static_cast<off_t>(place));
  } while (answer < 0 && errno == EINTR);
  if (answer == 0) return true;
  if (errno == EAGAIN || errno == EACCES) return false;
  return system_error("cannot lock", file.name());
}

void unlock_place(const File& file, std::uint64_t place) {
  (void)system_calls().lock_place(file.descriptor(), F_UNLCK, static_cast<off_t>(place));
}

}  // namespace mcr::restart
