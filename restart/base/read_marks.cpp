// SPDX-License-Identifier: BSD-3-Clause
#include "restart/base/read_marks.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>

#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "restart/base/system.hpp"

namespace mcr::restart {

namespace {

/// An access time may be too early by this much: the kernel takes it from its last clock tick.
constexpr std::uint64_t tick_ns = 10'000'000;

std::optional<long> type_of(const File& file) {
  struct statfs status {};
  if (::fstatfs(file.descriptor(), &status) != 0) return std::nullopt;
  return static_cast<long>(status.f_type);
}

bool keeps_access_times(const File& file, unsigned long flags_without) {
  struct statvfs status {};
  return ::fstatvfs(file.descriptor(), &status) == 0 && (status.f_flag & flags_without) == 0;
}

bool shows_listings(const File& directory) {
  const auto type = type_of(directory);
  return (type == EXT4_SUPER_MAGIC || type == TMPFS_MAGIC || type == XFS_SUPER_MAGIC ||
          type == BTRFS_SUPER_MAGIC) &&
         keeps_access_times(directory, ST_NOATIME | ST_NODIRATIME);
}

using TimeParts = std::pair<time_t, long>;
TimeParts read_time(const struct stat& status) {
  return {status.st_atim.tv_sec, status.st_atim.tv_nsec};
}
TimeParts written_time(const struct stat& status) {
  return {status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
}

std::uint64_t nanoseconds(const struct statx_timestamp& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

bool keeps_names_of_open_files(const File& file) {
  return type_of(file).value_or(NFS_SUPER_MAGIC) == NFS_SUPER_MAGIC;
}

bool shows_reads(const File& file) {
  const auto type = type_of(file);
  // XFS and Btrfs make copies without a read (reflinks).
  return (type == EXT4_SUPER_MAGIC || type == TMPFS_MAGIC) && keeps_access_times(file, ST_NOATIME);
}

bool was_read(const File& file) {
  const auto status = file.status();
  return !status || read_time(*status) >= written_time(*status);
}

bool may_have_been_read(const File& file) {
  if (!shows_reads(file)) return true;
  const auto before = file.status();
  struct timespec now {};
  // A modification time in the future was set by a program, and proves nothing about reads.
  if (!before || system_calls().clock_gettime(CLOCK_REALTIME, &now) != 0 ||
      written_time(*before) > TimeParts{now.tv_sec, now.tv_nsec})
    return true;
  if (read_time(*before) >= written_time(*before)) return true;
  // The access time shows no read. To make sure that reads are recorded here, read the file and
  // compare.
  const auto readable = File::open(AT_FDCWD, link_path(file.descriptor()), O_RDONLY | O_NONBLOCK);
  std::array<std::byte, 1> byte{};
  if (!readable || !readable->read_at(0, byte)) return true;
  const auto after = file.status();
  return !after || read_time(*after) <= read_time(*before);
}

bool may_have_been_listed(const std::string& directory, std::uint64_t since_ns) {
  const auto file = File::open(AT_FDCWD, directory, O_PATH | O_DIRECTORY);
  if (!file) return true;
  struct statx status {};
  if (!shows_listings(*file) ||
      ::statx(file->descriptor(), "", AT_EMPTY_PATH, STATX_ATIME | STATX_BTIME, &status) != 0)
    return true;
  const std::uint64_t listed_ns = nanoseconds(status.stx_atime);
  const bool is_new =
      (status.stx_mask & STATX_BTIME) != 0 && listed_ns == nanoseconds(status.stx_btime);
  return !is_new && listed_ns + tick_ns > since_ns;
}

}  // namespace mcr::restart
