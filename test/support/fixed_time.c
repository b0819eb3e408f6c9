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

int gettimeofday(struct timeval* restrict now, void* restrict zone) {
  (void)zone;
  *now = (struct timeval){.tv_sec = moment};
  return 0;
}
