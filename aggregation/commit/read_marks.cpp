// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/read_marks.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>

#include <array>
#include <cstddef>
#include <utility>

#include "restart/base/system.hpp"

namespace mcr::aggregation {

using restart::File;

namespace {

/// An access time may be too early by this much: the kernel takes it from its last clock tick.
constexpr std::uint64_t tick_ns = 10'000'000;

long type_of(const File& file) {
  struct statfs status {};
  return ::fstatfs(file.descriptor(), &status) == 0 ? static_cast<long>(status.f_type) : 0;
}

/// True if access times show every copy: other nodes do not read the file system, and it makes no
/// copies without a read (as XFS and Btrfs do with reflinks).
bool shows_every_copy(const File& file) {
  const long type = type_of(file);
  return type == EXT4_SUPER_MAGIC || type == TMPFS_MAGIC;
}

bool shows_every_listing(const File& directory) {
  const long type = type_of(directory);
  const bool is_local = type == EXT4_SUPER_MAGIC || type == TMPFS_MAGIC ||
                        type == XFS_SUPER_MAGIC || type == BTRFS_SUPER_MAGIC;
  struct statvfs status {};
  return is_local && ::fstatvfs(directory.descriptor(), &status) == 0 &&
         (status.f_flag & (ST_NOATIME | ST_NODIRATIME)) == 0;
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

bool keeps_names_of_open_files(const File& file) { return type_of(file) == NFS_SUPER_MAGIC; }

bool may_have_been_read(const File& file) {
  if (!shows_every_copy(file)) return true;
  const auto before = file.status();
  struct timespec now {};
  // A modification time in the future was set by a program, and proves nothing about reads.
  if (!before || restart::system_calls().clock_gettime(CLOCK_REALTIME, &now) != 0 ||
      written_time(*before) > TimeParts{now.tv_sec, now.tv_nsec})
    return true;
  if (read_time(*before) >= written_time(*before)) return true;
  // The access time shows no read. To make sure that reads are recorded here, read the file and
  // compare.
  const auto readable =
      File::open(AT_FDCWD, restart::link_path(file.descriptor()), O_RDONLY | O_NONBLOCK);
  std::array<std::byte, 1> byte{};
  if (!readable || !readable->read_at(0, byte)) return true;
  const auto after = file.status();
  return !after || read_time(*after) <= read_time(*before);
}

bool may_have_been_listed(const std::string& directory, std::uint64_t since_ns) {
  const auto file = File::open(AT_FDCWD, directory, O_PATH | O_DIRECTORY);
  if (!file) return true;
  struct statx status {};
  if (!shows_every_listing(*file) ||
      ::statx(file->descriptor(), "", AT_EMPTY_PATH, STATX_ATIME | STATX_BTIME, &status) != 0)
    return true;
  const std::uint64_t listed_ns = nanoseconds(status.stx_atime);
  const bool is_new =
      (status.stx_mask & STATX_BTIME) != 0 && listed_ns == nanoseconds(status.stx_btime);
  return !is_new && listed_ns + tick_ns > since_ns;
}

}  // namespace mcr::aggregation
