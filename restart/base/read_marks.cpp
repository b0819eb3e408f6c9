// SPDX-License-Identifier: BSD-3-Clause
#include "restart/base/read_marks.hpp"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>

#include <utility>

namespace mcr::restart {

bool shows_reads(const File& file) {
  struct statfs type {};
  struct statvfs mount {};
  // XFS and Btrfs make copies without a read (reflinks).
  return ::fstatfs(file.descriptor(), &type) == 0 &&
         (type.f_type == EXT4_SUPER_MAGIC || type.f_type == TMPFS_MAGIC) &&
         ::fstatvfs(file.descriptor(), &mount) == 0 && (mount.f_flag & ST_NOATIME) == 0;
}

bool was_read(const File& file) {
  const auto status = file.status();
  using TimeParts = std::pair<time_t, long>;
  return !status || TimeParts(status->st_atim.tv_sec, status->st_atim.tv_nsec) >=
                        TimeParts(status->st_mtim.tv_sec, status->st_mtim.tv_nsec);
}

}  // namespace mcr::restart
