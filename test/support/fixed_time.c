// SPDX-License-Identifier: BSD-3-Clause
// LD_PRELOAD: the time stands still for HDF5, which records object times to the second, so that two
// runs of a program write the same bytes. For all other callers the time goes on, because MPI waits
// by it.
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

enum { moment = 1000000000 };

static bool is_hdf5(const void* caller) {
  Dl_info info;
  return dladdr(caller, &info) && info.dli_fname && strstr(info.dli_fname, "libhdf5");
}

time_t time(time_t* result) {
  struct timespec now = {.tv_sec = moment};
  if (!is_hdf5(__builtin_return_address(0))) clock_gettime(CLOCK_REALTIME, &now);
  if (result) *result = now.tv_sec;
  return now.tv_sec;
}

// glibc declares that `now` is never null.
int gettimeofday(struct timeval* restrict now, void* restrict zone) {
  (void)zone;
  struct timespec real = {.tv_sec = moment};
  if (!is_hdf5(__builtin_return_address(0))) clock_gettime(CLOCK_REALTIME, &real);
  *now = (struct timeval){.tv_sec = real.tv_sec, .tv_usec = real.tv_nsec / 1000};
  return 0;
}
