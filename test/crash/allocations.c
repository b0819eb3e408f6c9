// SPDX-License-Identifier: BSD-3-Clause
// Creates, writes, flushes, closes, reads and replaces files while one allocation of the plugin
// fails; repeats this for each allocation. A call of HDF5 may fail. Not allowed are a crash, other
// bytes than those that were flushed or closed successfully, and a later call that fails without
// need. No part is drained, because this process holds the leader's lock.
//
//   LD_PRELOAD=libfailing_allocation.so HDF5_VOL_CONNECTOR=mcr … allocations STAGE
//
// The settings must be rank=0;ranks=1;launch=test;node=test;stage=STAGE;files=*;exit=leave.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { most = 20000, attempts = 100000 };

static long (*fail_allocation)(long);
static int data[most];
static FILE* out;  // standard error is left to HDF5, which reports every failure

static void require(bool good, const char* what, long at) {
  if (good) return;
  fprintf(out, "allocations: %s (allocation %ld failed)\n", what, at);
  exit(1);
}

static void lead(const char* stage) {
  char path[4096];
  mkdir(stage, 0700);
  snprintf(path, sizeof path, "%s/test.test", stage);
  mkdir(path, 0700);
  snprintf(path, sizeof path, "%s/test.test/lock", stage);
  const int lock = open(path, O_RDWR | O_CREAT, 0600);
  require(lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0, path, -1);
}

// Returns how far the file came: 0 not created, 1 created, 2 flushed with its data, 3 closed with
// its data.
static int write_file(const char* path, int count, int seed, bool flush) {
  for (int i = 0; i < count; ++i) data[i] = seed + i;
  const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  if (file < 0) return 0;
  const hsize_t extent = (hsize_t)count;
  const hid_t space = H5Screate_simple(1, &extent, NULL);
  const hid_t set =
      H5Dcreate2(file, "x", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  bool good = set >= 0 && H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0;
  if (set >= 0) good &= H5Dclose(set) >= 0;
  H5Sclose(space);
  const bool flushed = flush && good && H5Fflush(file, H5F_SCOPE_LOCAL) >= 0;
  good &= H5Fclose(file) >= 0;
  return good ? 3 : flushed ? 2 : 1;
}

static bool read_file(const char* path, int count, int seed, bool* wrong) {
  const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  if (file < 0) return false;
  const hid_t set = H5Dopen2(file, "x", H5P_DEFAULT);
  memset(data, 0xff, sizeof data);
  hsize_t extent = 0;
  if (set >= 0) {
    const hid_t space = H5Dget_space(set);
    H5Sget_simple_extent_dims(space, &extent, NULL);
    H5Sclose(space);
  }
  const bool good = set >= 0 && extent <= most &&
                    H5Dread(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0;
  if (set >= 0) H5Dclose(set);
  H5Fclose(file);
  if (good)
    *wrong = extent != (hsize_t)count || data[0] != seed || data[count - 1] != seed + count - 1;
  return good;
}

static bool holds(const char* path, int count, int seed) {
  bool wrong = false;
  return read_file(path, count, seed, &wrong) && !wrong;
}

// Allocation number `at` fails in a file's life. Returns true if the life has that many
// allocations.
static bool life(long at, int count, bool flush, bool replace, bool again) {
  const char* path = "a.h5";
  unlink(path);
  if (replace) require(write_file(path, 500, 1000000, false) == 3, "the file to be replaced", at);
  if (again) H5close();
  fail_allocation(at);
  const int came = write_file(path, count, 7, flush);
  bool wrong = false;
  const bool was_read = came == 3 && read_file(path, count, 7, &wrong);
  const long asked = fail_allocation(-1);
  require(!was_read || !wrong, "other bytes were read", at);
  if (came == 3) require(holds(path, count, 7), "a closed file is lost", at);
  if (replace && came < 3)
    require(holds(path, 500, 1000000) || holds(path, count, 7), "old and new file are lost", at);
  require(write_file(path, count, 9, flush) == 3 && holds(path, count, 9),
          "nothing works afterwards", at);
  return asked > at;
}

int main(int words, char** word) {
  out = fdopen(dup(2), "w");
  require(out && freopen("/dev/null", "w", stderr), "standard error", -1);
  void* const found = dlsym(RTLD_DEFAULT, "mcr_test_fail_allocation");
  memcpy(&fail_allocation, &found, sizeof found);
  require(words == 2 && fail_allocation, "how it is called", -1);
  lead(word[1]);
  fail_allocation(attempts);
  require(write_file("first.h5", 10, 1, false) == 3, "the first file", -1);
  require(fail_allocation(-1) > 10, "the plugin's allocations are not seen", -1);
  long lives = 0;
  for (int kind = 0; kind < 16; ++kind) {
    const int count = kind & 1 ? most : 100;
    for (long at = 0; life(at, count, kind & 2, kind & 4, kind & 8); ++at) {
      require(at < attempts, "no end of allocations", at);
      ++lives;
    }
  }
  printf("%ld lives\n", lives);
  return 0;
}
