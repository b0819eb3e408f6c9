// SPDX-License-Identifier: BSD-3-Clause
// Preloaded where two runs of a program must write the same bytes: HDF5 records object times to the
// second.
#include <stddef.h>
#include <sys/time.h>
#include <time.h>

enum { moment = 1000000000 };

time_t time(time_t* result) {
  if (result) *result = moment;
  return moment;
}

// The microseconds go on: MPI libraries wait by them.
int gettimeofday(struct timeval* restrict now, void* restrict zone) {
  (void)zone;
  struct timespec real;
  clock_gettime(CLOCK_REALTIME, &real);
  *now = (struct timeval){.tv_sec = moment, .tv_usec = real.tv_nsec / 1000};
  return 0;
}
