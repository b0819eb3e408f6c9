// SPDX-License-Identifier: BSD-3-Clause
// LD_PRELOAD: the clock is wrong by MCR_TEST_CLOCK_S seconds for the program, HDF5 and the
// connector. File systems keep their own time.
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

static long shift(void) {
  const char* seconds = getenv("MCR_TEST_CLOCK_S");
  return seconds ? atol(seconds) : 0;
}

int clock_gettime(clockid_t clock, struct timespec* now) {
  static int (*next)(clockid_t, struct timespec*);
  if (!next) *(void**)&next = dlsym(RTLD_NEXT, "clock_gettime");
  const int status = next(clock, now);
  if (status == 0 && clock == CLOCK_REALTIME) now->tv_sec += shift();
  return status;
}
