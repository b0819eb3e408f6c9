// SPDX-License-Identifier: BSD-3-Clause
// One rank of a restart: opens its files and reads every dataset into memory, which it keeps, as a
// restarting program does. Then prints, as JSON, what that took.
//
//   restart_rank [--dataset NAME] [--until NAME] [--closing PREFIX] FILE…
//
// cpu_seconds is the CPU time of this process. peak_bytes is its greatest resident memory;
// data_bytes of it were read, and start_bytes were resident before the first open. --until keeps
// the files open until there is a file of that name. --closing closes all descriptors after the
// first dataset, including those of HDF5 and mcr, and opens its own files PREFIX0, PREFIX1, … under
// their numbers.
#include <fcntl.h>
#include <getopt.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static unsigned long long data_bytes = 0;
static unsigned long long sum = 1;
static const char* own_files = NULL;

static void fail(const char* what, const char* name) {
  fprintf(stderr, "restart_rank: %s failed: %s\n", what, name);
  exit(1);
}

// A checksum that depends on the data and its order, and is cheap compared with decoding.
static void add_up(const unsigned char* data, size_t bytes) {
  for (size_t i = 0; i < bytes; i += 8) {
    unsigned long long word = 0;
    memcpy(&word, data + i, bytes - i < 8 ? bytes - i : 8);
    sum = (sum ^ word) * 1099511628211ULL;
  }
}

// Reads the bytes as they are in the file; of variable-length data, only the references.
static void read_dataset(hid_t dataset, const char* name) {
  const hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset);
  const hssize_t count =
      H5Sget_simple_extent_type(space) == H5S_NULL ? 0 : H5Sget_simple_extent_npoints(space);
  const int variable = H5Tdetect_class(type, H5T_VLEN) > 0 || H5Tis_variable_str(type) > 0;
  if (count > 0 && !variable) {
    const size_t bytes = (size_t)count * H5Tget_size(type);
    unsigned char* const data = malloc(bytes);
    if (data == NULL || H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0)
      fail("H5Dread", name);
    add_up(data, bytes);
    data_bytes += bytes;
  }
  H5Tclose(type);
  H5Sclose(space);
}

static void have_descriptors(void) {
  const int most = (int)sysconf(_SC_OPEN_MAX);
  for (int i = 3; i < most; ++i) close(i);
  char name[4096];
  for (int i = 0; i + 8 < most; ++i) {
    snprintf(name, sizeof name, "%s%d", own_files, i);
    const int own = open(name, O_RDWR | O_CREAT, 0666);
    if (own < 0 || write(own, "the program's own", 17) != 17) fail("a file of our own", name);
  }
  own_files = NULL;
}

static herr_t visit(hid_t root, const char* name, const H5O_info2_t* info, void* unused) {
  (void)unused;
  if (info->type != H5O_TYPE_DATASET) return 0;
  const hid_t dataset = H5Dopen2(root, name, H5P_DEFAULT);
  if (dataset < 0) fail("H5Dopen", name);
  read_dataset(dataset, name);
  H5Dclose(dataset);
  if (own_files != NULL) have_descriptors();
  return 0;
}

static double seconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

// Not from getrusage(), which also counts the memory of the process that forked this one.
static unsigned long long peak_bytes(void) {
  FILE* const status = fopen("/proc/self/status", "r");
  char line[256];
  unsigned long long kib = 0;
  while (status != NULL && fgets(line, sizeof line, status) != NULL) {
    if (sscanf(line, "VmHWM: %llu", &kib) == 1) break;
  }
  if (status != NULL) fclose(status);
  return kib * 1024;
}

int main(int argc, char** argv) {
  const struct option options[] = {{"dataset", required_argument, NULL, 'd'},
                                   {"until", required_argument, NULL, 'u'},
                                   {"closing", required_argument, NULL, 'c'},
                                   {0}};
  const char* only = NULL;
  const char* until = NULL;
  for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
    if (option == 'd') {
      only = optarg;
    } else if (option == 'u') {
      until = optarg;
    } else if (option == 'c') {
      own_files = optarg;
    } else {
      return 2;
    }
  }
  H5open();
  const unsigned long long start = peak_bytes();
  const double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
  hid_t* const files = calloc((size_t)argc, sizeof *files);
  for (int i = optind; i < argc; ++i) {
    files[i] = H5Fopen(argv[i], H5F_ACC_RDONLY, H5P_DEFAULT);
    if (files[i] < 0) fail("H5Fopen", argv[i]);
    if (only != NULL) {
      const hid_t dataset = H5Dopen2(files[i], only, H5P_DEFAULT);
      if (dataset < 0) fail("H5Dopen", only);
      read_dataset(dataset, only);
      H5Dclose(dataset);
    } else if (H5Ovisit3(files[i], H5_INDEX_NAME, H5_ITER_NATIVE, visit, NULL, H5O_INFO_BASIC) <
               0) {
      fail("H5Ovisit", argv[i]);
    }
  }
  printf(
      "{\"data_bytes\": %llu, \"sum\": %llu, \"seconds\": %.6f, \"cpu_seconds\": %.6f, "
      "\"start_bytes\": %llu, \"peak_bytes\": %llu}\n",
      data_bytes, sum, seconds(CLOCK_MONOTONIC) - wall, seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu,
      start, peak_bytes());
  fflush(stdout);
  while (until != NULL && access(until, F_OK) != 0) usleep(20000);
  for (int i = optind; i < argc; ++i) H5Fclose(files[i]);
  return 0;
}
