// SPDX-License-Identifier: BSD-3-Clause
// LD_PRELOAD: the program finds no support for hard links on any file system.
#include <errno.h>
#include <unistd.h>

int linkat(int from_directory, const char* from, int to_directory, const char* to, int flags) {
  (void)from_directory, (void)from, (void)to_directory, (void)to, (void)flags;
  errno = EPERM;
  return -1;
}
