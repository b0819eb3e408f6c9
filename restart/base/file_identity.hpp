// SPDX-License-Identifier: BSD-3-Clause
// Which file something is, whatever name leads to it. Holds as long as the file exists: a new file
// may get the number of one that was removed.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

namespace mcr::restart {

struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;

  FileIdentity() = default;
  explicit FileIdentity(const struct stat& status) : device(status.st_dev), inode(status.st_ino) {}

  friend bool operator==(const FileIdentity& a, const FileIdentity& b) {
    return a.device == b.device && a.inode == b.inode;
  }
  friend bool operator!=(const FileIdentity& a, const FileIdentity& b) { return !(a == b); }
};

}  // namespace mcr::restart
