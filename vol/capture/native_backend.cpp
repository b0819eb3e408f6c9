// SPDX-License-Identifier: BSD-3-Clause
#include "vol/capture/native_backend.hpp"

#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "restart/base/system.hpp"
#include "restart/sets/native_members.hpp"

namespace mcr::vol {

Result<void> NativeBackend::read(std::uint64_t offset, MutableByteSpan out) {
  const std::size_t got = MCR_TRY(file_.read_some_at(offset, out));
  std::fill(out.begin() + static_cast<std::ptrdiff_t>(got), out.end(), std::byte{0});
  return {};
}

Result<void> NativeBackend::write(std::uint64_t offset, ByteSpan data) {
  make_note_unfinished();
  MCR_TRY(file_.write_at(offset, data));
  size_ = std::max(size_, offset + data.size());
  return {};
}

Result<void> NativeBackend::truncate(std::uint64_t size) {
  if (size == size_) return {};
  make_note_unfinished();
  MCR_TRY(file_.truncate(size));
  size_ = size;
  return {};
}

Result<void> NativeBackend::lock(bool exclusive) {
  if (flock(file_.descriptor(), (exclusive ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0) return {};
  if (ignore_disabled_locks_ && errno == ENOSYS) return {};
  return restart::system_error("unable to lock file", file_.name());
}

Result<void> NativeBackend::unlock() {
  if (flock(file_.descriptor(), LOCK_UN) == 0) return {};
  if (ignore_disabled_locks_ && errno == ENOSYS) return {};
  return restart::system_error("unable to unlock file", file_.name());
}

void NativeBackend::make_note_unfinished() {
  if (std::exchange(note_, Note::unfinished) != Note::complete) return;
  struct stat status {};
  if (restart::system_calls().fstat(descriptor(), &status) == 0)
    restart::make_note_unfinished(containers_, part_, status);
}

Result<void> NativeBackend::close() {
  struct stat status {};
  if (!containers_.empty() && restart::system_calls().fstat(descriptor(), &status) == 0)
    restart::complete_note(containers_, part_, status);
  if (::close(file_.release()) == 0) return {};
  return restart::system_error("unable to close file", file_.name());
}

}  // namespace mcr::vol
