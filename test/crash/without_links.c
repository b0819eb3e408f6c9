// SPDX-License-Identifier: BSD-3-Clause
// A file system without hard links, for the programs that it is loaded into.
#include <errno.h>
#include <unistd.h>

int linkat(int from_directory, const char* from, int to_directory, const char* to, int flags) {
  (void)from_directory, (void)from, (void)to_directory, (void)to, (void)flags;
  errno = EPERM;
  return -1;
}
