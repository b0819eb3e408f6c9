// SPDX-License-Identifier: BSD-3-Clause
// Identifies a file independently of its names. Valid only while the file exists: a new file may
// get the inode number of a removed one.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <compare>

namespace mcr::restart {

struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;

  FileIdentity() = default;
  FileIdentity(dev_t its_device, ino_t its_inode) : device(its_device), inode(its_inode) {}
  explicit FileIdentity(const struct stat& status) : device(status.st_dev), inode(status.st_ino) {}

  auto operator<=>(const FileIdentity&) const = default;
};

}  // namespace mcr::restart
