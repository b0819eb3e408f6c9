// SPDX-License-Identifier: BSD-3-Clause
// What property lists ask for: drivers, formats, layouts.
#include <fcntl.h>
#include <hdf5.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "habits.h"

static void drivers(void) {
  simple_file("plain.h5", 1);
  const hid_t core = H5Pcreate(H5P_FILE_ACCESS), stdio = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_core(core, 1 << 16, 1);
  H5Pset_fapl_stdio(stdio);
  hid_t file = H5Fopen("plain.h5", H5F_ACC_RDONLY, core);
  say("open by core", file);
  say_number("sum", sum(file, "x"));
  H5Fclose(file);
  file = H5Fopen("plain.h5", H5F_ACC_RDONLY, stdio);
  say("open by stdio", file);
  say_number("sum", sum(file, "x"));
  H5Fclose(file);
  file = H5Fcreate("core.h5", H5F_ACC_TRUNC, H5P_DEFAULT, core);
  say("put", put(file, "x", 1000, 2));
  say("close", H5Fclose(file));
  say_number("sum", sum_in("core.h5", "x"));
  file = H5Fcreate("stdio.h5", H5F_ACC_TRUNC, H5P_DEFAULT, stdio);
  say("put", put(file, "x", 1000, 2));
  say("close", H5Fclose(file));
  const hid_t family = H5Pcreate(H5P_FILE_ACCESS), split = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_family(family, 2048, H5P_DEFAULT);
  file = H5Fcreate("family%d.h5", H5F_ACC_TRUNC, H5P_DEFAULT, family);
  say("put", put(file, "x", 1000, 2));
  say("close", H5Fclose(file));
  H5Pset_fapl_split(split, "-m.h5", H5P_DEFAULT, "-r.h5", H5P_DEFAULT);
  file = H5Fcreate("split", H5F_ACC_TRUNC, H5P_DEFAULT, split);
  say("put", put(file, "x", 1000, 2));
  say("close", H5Fclose(file));
  file = H5Fopen("plain.h5", H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t list = H5Fget_access_plist(file), given = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_sec2(given);
  say_number("driver is sec2", H5Pget_driver(list) == H5Pget_driver(given));
  int* handle = NULL;
  say("handle", H5Fget_vfd_handle(file, H5P_DEFAULT, (void**)&handle));
  struct stat by_handle, by_name;
  fstat(*handle, &by_handle);
  stat("plain.h5", &by_name);
  say_number("handle leads to the path", by_handle.st_ino == by_name.st_ino);
  hsize_t size = 0;
  H5Fget_filesize(file, &size);
  say_number("size", (long)size);
  say_number("image", (long)H5Fget_file_image(file, NULL, 0));
  H5Fclose(file);
}

// Files of drivers that make several files, or no file, of one name.
static void other_drivers(void) {
  const hid_t family = H5Pcreate(H5P_FILE_ACCESS), split = H5Pcreate(H5P_FILE_ACCESS),
              core = H5Pcreate(H5P_FILE_ACCESS), log = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_family(family, 64 * 1024, H5P_DEFAULT);
  H5Pset_fapl_split(split, "-meta.h5", H5P_DEFAULT, "-raw.h5", H5P_DEFAULT);
  H5Pset_fapl_core(core, 1 << 16, 1);
  H5Pset_fapl_log(log, NULL, 0, 0);
  const struct {
    const char* name;
    hid_t list;
  } ways[] = {{"family%d.h5", family}, {"split", split}, {"core.h5", core}, {"log.h5", log}};
  for (int i = 0; i < 4; ++i) {
    hid_t file = H5Fcreate(ways[i].name, H5F_ACC_TRUNC, H5P_DEFAULT, ways[i].list);
    say("create", file);
    say("put", put(file, "x", 50000, i));
    say("close", H5Fclose(file));
    file = H5Fopen(ways[i].name, H5F_ACC_RDONLY, ways[i].list);
    say_number("sum", sum(file, "x"));
    H5Fclose(file);
  }
  say_number("second member", access("family1.h5", F_OK));
  simple_file("default.h5", 1);
}

static void bounds(void) {
  const H5F_libver_t versions[] = {H5F_LIBVER_EARLIEST, H5F_LIBVER_V18, H5F_LIBVER_V110,
                                   H5F_LIBVER_LATEST};
  for (int i = 0; i < 4; ++i) {
    char name[32];
    snprintf(name, sizeof name, "bounds%d.h5", i);
    const hid_t list = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_libver_bounds(list, versions[i], H5F_LIBVER_LATEST);
    hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, list);
    for (int n = 0; n < 50; ++n) {
      char set[16];
      snprintf(set, sizeof set, "x%d", n);
      put(file, set, 1000, n);
    }
    say("close", H5Fclose(file));
    file = H5Fopen(name, H5F_ACC_RDWR, list);
    say("put", put(file, "later", 1000, 7));
    say("close", H5Fclose(file));
    say_number("sum", sum_in(name, "x49"));
  }
}

static void user_block(void) {
  const hid_t list = H5Pcreate(H5P_FILE_CREATE);
  H5Pset_userblock(list, 512);
  const hid_t file = H5Fcreate("block.h5", H5F_ACC_TRUNC, list, H5P_DEFAULT);
  say("put", put(file, "x", 1000, 1));
  say("close", H5Fclose(file));
  const int open_file = open("block.h5", O_RDWR);
  say_number("written", pwrite(open_file, "user's own", 10, 0));
  close(open_file);
  say_number("sum", sum_in("block.h5", "x"));
}

static void paged(void) {
  const hid_t list = H5Pcreate(H5P_FILE_CREATE), access_list = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_file_space_strategy(list, H5F_FSPACE_STRATEGY_PAGE, 1, 1);
  H5Pset_file_space_page_size(list, 4096);
  H5Pset_page_buffer_size(access_list, 1 << 16, 0, 0);
  const hid_t file = H5Fcreate("paged.h5", H5F_ACC_TRUNC, list, access_list);
  say("put", put(file, "x", 10000, 1));
  say("put", put(file, "y", 10, 1));
  say("close", H5Fclose(file));
  say_number("sum", sum_in("paged.h5", "x"));
}

static void gaps(void) {
  for (int i = 0; i < 4; ++i) {
    char name[32];
    snprintf(name, sizeof name, "gaps%d.h5", i);
    const hid_t file = create(name);
    if (i % 2 == 0) {
      say("put", put(file, "x", 1 << 18, 0x7fffff0));
    } else {
      const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
      H5Pset_alloc_time(list, H5D_ALLOC_TIME_EARLY);
      H5Pset_fill_time(list, H5D_FILL_TIME_NEVER);
      const hsize_t size = 1 << 18, start = 5000, count = 100000;
      const hid_t space = H5Screate_simple(1, &size, NULL),
                  memory = H5Screate_simple(1, &count, NULL);
      const hid_t set =
          H5Dcreate2(file, "x", H5T_NATIVE_INT, space, H5P_DEFAULT, list, H5P_DEFAULT);
      int* values = malloc(count * sizeof *values);
      for (hsize_t k = 0; k < count; ++k) values[k] = (int)k;
      H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &count, NULL);
      say("write", H5Dwrite(set, H5T_NATIVE_INT, memory, space, H5P_DEFAULT, values));
      free(values);
      H5Dclose(set);
      H5Pclose(list);
      say_number("sum", sum(file, "x"));
    }
    say("close", H5Fclose(file));
    say_number("sum", sum_in(name, "x"));
  }
}

const struct habit habits_of_lists[] = {
    {"drivers", drivers},
    {"other_drivers", other_drivers},
    {"bounds", bounds},
    {"user_block", user_block},
    {"paged", paged},
    {"gaps", gaps},
    {0},
};
