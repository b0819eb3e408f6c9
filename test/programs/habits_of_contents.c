// SPDX-License-Identifier: BSD-3-Clause
// What files hold.
#include <hdf5.h>

#include "habits.h"

static herr_t file_from_callback(hid_t group, const char* name, const H5L_info2_t* info,
                                 void* data) {
  (void)info, (void)data;
  char path[64];
  snprintf(path, sizeof path, "from_%s.h5", name);
  const hid_t file = create(path);
  const long put_here = put(file, "copy", 1000, 5);
  const long copied = H5Ocopy(group, name, file, name, H5P_DEFAULT, H5P_DEFAULT);
  return put_here < 0 || copied < 0 || H5Fclose(file) < 0 || sum_in(path, name) < 0 ? -1 : 0;
}

// Makes, closes and reads a second file while HDF5 iterates over the first one.
static void iterating(void) {
  const hid_t file = create("walked.h5");
  put(file, "a", 1000, 1);
  put(file, "b", 9000, 2);
  say("walk", H5Literate2(file, H5_INDEX_NAME, H5_ITER_INC, NULL, file_from_callback, NULL));
  say("close", H5Fclose(file));
  say_number("sum", sum_in("from_b.h5", "b"));
}

// Writes the file of a rank without particles.
static void empty(void) {
  say("close", H5Fclose(create("nothing.h5")));
  hid_t file = create("zero.h5");
  say("put", put(file, "x", 0, 0));
  const hid_t space = H5Screate(H5S_NULL);
  say("null", H5Dclose(H5Dcreate2(file, "null", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT,
                                  H5P_DEFAULT)));
  say("close", H5Fclose(file));
  say_number("sum", sum_in("zero.h5", "x"));
}

static void many_small(void) {
  const hid_t file = create("many.h5");
  for (int i = 0; i < 3000; ++i) {
    char name[32];
    snprintf(name, sizeof name, "set%d", i);
    if (put(file, name, 20, i) < 0) say("put", -1);
  }
  say("close", H5Fclose(file));
  say_number("sum", sum_in("many.h5", "set2999"));
}

const struct habit habits_of_contents[] = {
    {"iterating", iterating},
    {"empty", empty},
    {"many_small", many_small},
    {0},
};
