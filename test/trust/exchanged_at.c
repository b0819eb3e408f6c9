// SPDX-License-Identifier: BSD-3-Clause
// LD_PRELOAD: holds a process at chosen opens, so that another process can exchange a directory at that very
// moment.
//
//   MCR_HELD_BEFORE=WORD:WORD…  each word is the end of a path. The first open of a path that ends so
//                               is held, then the first later open that fits the next word, and so on.
//                               A word that begins with '@' fits only opens with O_PATH. After that,
//                               '^' stands for: the last component of the path begins with the rest
//   MCR_HELD_ASKS=FILE          is made when an open is held; the open goes on when FILE is gone
#undef _FILE_OFFSET_BITS
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../support/opens.h"

static long (*raw)(long, ...);
static char words[PATH_MAX];
static char* next;
static const char* asks;

__attribute__((constructor)) static void begin(void) {
  if (raw) return;
  *(void**)&raw = dlsym(RTLD_NEXT, "syscall");
  asks = getenv("MCR_HELD_ASKS");
  if (!asks || !getenv("MCR_HELD_BEFORE")) return;
  snprintf(words, sizeof words, "%s", getenv("MCR_HELD_BEFORE"));
  next = strtok(words, ":");
}

static void path_at(int directory, const char* name, char* out) {
  char link[64];
  out[0] = 0;
  long length = 0;
  if (name[0] != '/') {
    snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
    length = raw(SYS_readlinkat, AT_FDCWD, directory == AT_FDCWD ? "/proc/self/cwd" : link, out,
                 PATH_MAX - 1);
    if (length < 0) length = 0;
    out[length] = 0;
  }
  snprintf(out + length, PATH_MAX - (size_t)length, "%s%s", name[0] == '/' ? "" : "/", name);
}

static bool fits(const char* path, int flags) {
  const bool only_to_look = *next == '@';
  const char* word = next + only_to_look;
  const size_t length = strlen(path), end = strlen(word);
  if (only_to_look && !(flags & O_PATH)) return false;
  if (*word == '^') return !strncmp(strrchr(path, '/') + 1, word + 1, end - 1);
  return length >= end && !strcmp(path + length - end, word);
}

static int open_at(int directory, const char* name, int flags, mode_t mode) {
  char path[PATH_MAX];
  if (!raw) begin();
  if (next) path_at(directory, name, path);
  if (next && fits(path, flags)) {
    next = strtok(NULL, ":");
    raw(SYS_close, raw(SYS_openat, AT_FDCWD, asks, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    while (raw(SYS_faccessat, AT_FDCWD, asks, F_OK) == 0)
      raw(SYS_nanosleep, &(struct timespec){0, 1000000}, NULL);
  }
  return (int)raw(SYS_openat, directory, name, flags, mode);
}
