/* SPDX-License-Identifier: BSD-3-Clause
 * Storage of a stated speed: LD_PRELOAD this, and what write, pwrite and writev put into files below
 * THROTTLE_DIRECTORY takes its time from token buckets: one per thread (THROTTLE_STREAM, bytes a second)
 * and one that all share (THROTTLE_TOTAL, in the file THROTTLE_STATE). Reads of these files likewise, but with
 * THROTTLE_READS=0: what was written a moment ago is read from the page cache.
 * A call first takes its bytes' worth of time from both buckets, sleeps until both allow it, then goes on.
 * Only for benchmarks: stands in for a parallel file system that is slower than this machine's disk. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static const char* directory;
static double stream_rate, total_rate; /* bytes a second; 0: no limit */
static int reads_are_slow = 1;
static _Thread_local _Atomic int64_t own_free_at; /* ns of CLOCK_MONOTONIC at which the bucket is free again */
static _Atomic int64_t* shared_free_at;

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

__attribute__((constructor)) static void start(void) {
  const char* state = getenv("THROTTLE_STATE");
  directory = getenv("THROTTLE_DIRECTORY");
  if (getenv("THROTTLE_STREAM")) stream_rate = atof(getenv("THROTTLE_STREAM"));
  if (getenv("THROTTLE_TOTAL")) total_rate = atof(getenv("THROTTLE_TOTAL"));
  if (getenv("THROTTLE_READS")) reads_are_slow = atoi(getenv("THROTTLE_READS"));
  if (!state || total_rate <= 0) return;
  const int fd = open(state, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0 || ftruncate(fd, 4096) != 0) return;
  void* page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (page != MAP_FAILED) shared_free_at = page;
}

/* Takes `bytes` from a bucket; the time at which they may pass. */
static int64_t take(_Atomic int64_t* free_at, double rate, size_t bytes) {
  const int64_t cost = (int64_t)((double)bytes / rate * 1e9), now = now_ns();
  int64_t before = atomic_load(free_at), after;
  do after = (before > now ? before : now) + cost;
  while (!atomic_compare_exchange_weak(free_at, &before, after));
  return after;
}

static void pass(int fd, size_t bytes) {
  if (!directory || bytes == 0) return;
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return;
  path[length] = '\0';
  if (strncmp(path, directory, strlen(directory)) != 0) return;
  int64_t until = 0, at;
  if (stream_rate > 0 && (at = take(&own_free_at, stream_rate, bytes)) > until) until = at;
  if (shared_free_at && (at = take(shared_free_at, total_rate, bytes)) > until) until = at;
  if (until <= now_ns()) return;
  const struct timespec t = {until / 1000000000, until % 1000000000};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void* data, size_t bytes) {
  pass(fd, bytes);
  return NEXT(write)(fd, data, bytes);
}
ssize_t pwrite(int fd, const void* data, size_t bytes, off_t at) {
  pass(fd, bytes);
  return NEXT(pwrite)(fd, data, bytes, at);
}
ssize_t pwrite64(int fd, const void* data, size_t bytes, off64_t at) {
  pass(fd, bytes);
  return NEXT(pwrite64)(fd, data, bytes, at);
}
ssize_t pread(int fd, void* data, size_t bytes, off_t at) {
  if (reads_are_slow) pass(fd, bytes);
  return NEXT(pread)(fd, data, bytes, at);
}
ssize_t pread64(int fd, void* data, size_t bytes, off64_t at) {
  if (reads_are_slow) pass(fd, bytes);
  return NEXT(pread64)(fd, data, bytes, at);
}
ssize_t read(int fd, void* data, size_t bytes) {
  if (reads_are_slow) pass(fd, bytes);
  return NEXT(read)(fd, data, bytes);
}
ssize_t writev(int fd, const struct iovec* parts, int count) {
  size_t bytes = 0;
  for (int i = 0; i < count; ++i) bytes += parts[i].iov_len;
  pass(fd, bytes);
  return NEXT(writev)(fd, parts, count);
}
