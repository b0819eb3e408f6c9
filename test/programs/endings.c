// SPDX-License-Identifier: BSD-3-Clause
// A program that closes a checkpoint and ends:
//
//   endings own|dont_atexit WAY     HDF5 closes itself at exit(), or the program prevents that
//
// Writes first.h5, closes it, and ends in the way that WAY names. MCR_TEST_MEGABYTES is the size of
// the file.
#include <hdf5.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static size_t count;
static int* data;

static hid_t write_file(const char* name) {
  const hsize_t extent = count;
  const hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t space = H5Screate_simple(1, &extent, NULL);
  const hid_t set =
      H5Dcreate2(file, "x", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  if (H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0) exit(9);
  H5Dclose(set);
  H5Sclose(space);
  return file;
}

static void* end_later(void* nothing) {
  usleep(200000);
  return nothing;
}

static void end_in_handler(int number) { exit(number == SIGTERM ? 3 : 9); }

static int end(const char* way) {
  if (!strcmp(way, "return")) return 0;
  if (!strcmp(way, "exit")) exit(3);
  if (!strcmp(way, "quick_exit")) quick_exit(0);
  if (!strcmp(way, "_exit")) _exit(0);
  if (!strcmp(way, "killed")) kill(getpid(), SIGKILL);
  if (!strcmp(way, "handler")) {
    signal(SIGTERM, end_in_handler);
    raise(SIGTERM);
  }
  if (!strcmp(way, "thread")) {
    pthread_t other;
    pthread_create(&other, NULL, end_later, NULL);
    pthread_exit(NULL);
  }
  if (!strcmp(way, "H5close")) return H5close() < 0;
  if (!strcmp(way, "H5close_and_more")) {
    if (H5close() < 0) return 9;
    return H5Fclose(write_file("second.h5")) < 0;
  }
  if (!strcmp(way, "open")) return write_file("second.h5") < 0;
  if (!strcmp(way, "child")) {
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) exit(0);
    int status = 0;
    waitpid(child, &status, 0);
    return status != 0 || H5Fclose(write_file("second.h5")) < 0;
  }
  return 9;
}

int main(int argc, char** argv) {
  if (argc != 3) return 9;
  const char* megabytes = getenv("MCR_TEST_MEGABYTES");
  count = (size_t)(megabytes ? atoi(megabytes) : 1) * 1000000 / sizeof *data;
  data = malloc(count * sizeof *data);
  unsigned noise = 1;
  for (size_t i = 0; i < count; ++i) data[i] = (int)(noise = noise * 1664525 + 1013904223) >> 8;
  if (!strcmp(argv[1], "dont_atexit")) H5dont_atexit();
  if (H5Fclose(write_file("first.h5")) < 0) return 9;
  return end(argv[2]);
}
