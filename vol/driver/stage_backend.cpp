// SPDX-License-Identifier: BSD-3-Clause
#include "vol/driver/stage_backend.hpp"

#include <sys/file.h>

#include <cerrno>

#include "restart/base/system.hpp"

namespace mcr::vol {

Result<void> lock_descriptor(int descriptor, int operation, bool ignore_disabled) {
  int answer = 0;
  do {
    answer = restart::system_calls().flock(descriptor, operation | LOCK_NB);
  } while (answer != 0 && errno == EINTR);
  if (answer == 0) return {};
  if (ignore_disabled && errno == ENOSYS) return {};
  return restart::system_error(
      operation == LOCK_UN ? "unable to unlock file" : "unable to lock file", {});
}

Result<void> StageBackend::write(std::uint64_t offset, ByteSpan data) {
  const Waiting waiting;
  writes_ = true;
  return file_->write(offset, data);
}

Result<void> StageBackend::truncate(std::uint64_t size) {
  writes_ = true;
  return file_->truncate(size);
}

Result<void> StageBackend::flush() {
  const Waiting waiting;
  return writes_ ? file_->flush() : Result<void>();
}

Result<void> StageBackend::lock(bool exclusive) {
  return lock_descriptor(file_->descriptor(), exclusive ? LOCK_EX : LOCK_SH,
                         ignore_disabled_locks_);
}

Result<void> StageBackend::unlock() {
  return lock_descriptor(file_->descriptor(), LOCK_UN, ignore_disabled_locks_);
}

Result<void> StageBackend::close() {
  const Waiting waiting;
  return writes_ ? file_->finish() : Result<void>();
}

}  // namespace mcr::vol
