// SPDX-License-Identifier: BSD-3-Clause
// The calls that open files, for libraries that are preloaded: each calls open_at() of the including file.
// Both names of each call are defined, so the including file undefines _FILE_OFFSET_BITS first; otherwise one
// name would stand for the other.
#pragma once

#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>

static int open_at(int directory, const char* name, int flags, mode_t mode);

#define WITH_MODE(flags)                        \
  mode_t mode = 0;                              \
  if ((flags) & (O_CREAT | __O_TMPFILE)) {      \
    va_list arguments;                          \
    va_start(arguments, flags);                 \
    mode = (mode_t)va_arg(arguments, unsigned); \
    va_end(arguments);                          \
  }
int open(const char* name, int flags, ...) {
  WITH_MODE(flags)
  return open_at(AT_FDCWD, name, flags, mode);
}
int open64(const char* name, int flags, ...) {
  WITH_MODE(flags)
  return open_at(AT_FDCWD, name, flags, mode);
}
int openat(int directory, const char* name, int flags, ...) {
  WITH_MODE(flags)
  return open_at(directory, name, flags, mode);
}
int openat64(int directory, const char* name, int flags, ...) {
  WITH_MODE(flags)
  return open_at(directory, name, flags, mode);
}
