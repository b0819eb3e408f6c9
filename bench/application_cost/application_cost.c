// SPDX-License-Identifier: BSD-3-Clause
// Measures how long an application waits, from the call of H5Fcreate until H5Fclose has returned.
// Alternates rounds through mcr and native rounds, in one process, on one memory file system.
// Prints JSON: medians, their ratio, and the ratio's spread over the pairs.
//
//   HDF5_PLUGIN_PATH=<plugin> application_cost DIRECTORY [--rounds N] [--megabytes N] [--quick]
//
// Cases: one large contiguous dataset; 5,000 datasets of 9 KiB; empty files; reading a kept part.
// `cold` is the first round, in which the stage has no file to reuse. Afterwards the process gives
// the bytes of each part back to the pool, as a leader would. No leader runs, because its work must
// not be measured. In native rounds, H5Fcreate truncates the old file, as in programs that
// overwrite their files.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
  most_rounds = 100,
  small_datasets = 5000,
  small_elements = 9 * 1024 / 8,
  files_in_a_row = 200
};

static const char* directory;
static char stage[PATH_MAX];
static size_t large_bytes = (size_t)512 << 20;
static double* data;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

// CPU time of this process, which other processes on the machine disturb less than the clock.
static double processor_time(void) {
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

typedef struct {
  double wall, cpu;
} Cost;

static void check(bool good, const char* what) {
  if (good) return;
  fprintf(stderr, "application_cost: %s failed\n", what);
  exit(1);
}

// --- the pool, kept warm as by the leader -------------------------------------------------------

static char launch_directory[2 * PATH_MAX];

// Makes the launch's directory and takes the leader's lock, so that this process counts as the
// leader.
static void lead(void) {
  char path[3 * PATH_MAX];
  check(mkdir(stage, 0700) == 0 || errno == EEXIST, stage);
  snprintf(launch_directory, sizeof launch_directory, "%s/bench.bench", stage);
  check(mkdir(launch_directory, 0700) == 0 || errno == EEXIST, launch_directory);
  snprintf(path, sizeof path, "%s/lock", launch_directory);
  const int lock = open(path, O_RDWR | O_CREAT, 0600);
  check(lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0, path);
}

// Takes all published parts out of the stage; their bytes go to the pool.
static void drain(bool keep_bytes) {
  char path[3 * PATH_MAX], to[3 * PATH_MAX];
  snprintf(path, sizeof path, "%s/published", launch_directory);
  DIR* list = opendir(path);
  int slot = 0;
  for (struct dirent* entry; list && (entry = readdir(list));) {
    if (entry->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "%s/parts/%.32s", launch_directory, entry->d_name);
    while (slot < 8 &&
           (snprintf(to, sizeof to, "%s/pool/0.%d", launch_directory, slot), access(to, F_OK) == 0))
      ++slot;
    if (!keep_bytes || slot == 8 || rename(path, to) != 0) unlink(path);
    snprintf(path, sizeof path, "%s/published/%s", launch_directory, entry->d_name);
    unlink(path);
  }
  if (list) closedir(list);
}

static void empty_pool(void) {
  char path[3 * PATH_MAX];
  for (int slot = 0; slot < 8; ++slot) {
    snprintf(path, sizeof path, "%s/pool/0.%d", launch_directory, slot);
    unlink(path);
  }
}

// --- cases --------------------------------------------------------------------------------------

static void write_large(hid_t file) {
  const hsize_t count = large_bytes / sizeof *data;
  const hid_t space = H5Screate_simple(1, &count, NULL);
  const hid_t set =
      H5Dcreate2(file, "field", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  check(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0, "H5Dwrite");
  H5Dclose(set);
  H5Sclose(space);
}

static void write_small(hid_t file) {
  const hsize_t count = small_elements;
  const hid_t space = H5Screate_simple(1, &count, NULL);
  for (int i = 0; i < small_datasets; ++i) {
    char name[32];
    snprintf(name, sizeof name, "variable%05d", i);
    const hid_t set =
        H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    check(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0, "H5Dwrite");
    H5Dclose(set);
  }
  H5Sclose(space);
}

static void write_nothing(hid_t file) { (void)file; }

static Cost write_files(hid_t access, const char* word, int count, void (*write)(hid_t)) {
  char path[PATH_MAX];
  const double begin = now(), cpu = processor_time();
  for (int i = 0; i < count; ++i) {
    snprintf(path, sizeof path, "%s/%s-%04d.h5", directory, word, i);
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    check(file >= 0, "H5Fcreate");
    write(file);
    check(H5Fclose(file) >= 0, "H5Fclose");
  }
  return (Cost){now() - begin, processor_time() - cpu};
}

static void remove_files(const char* word, int count) {
  char path[PATH_MAX];
  for (int i = 0; i < count; ++i) {
    snprintf(path, sizeof path, "%s/%s-%04d.h5", directory, word, i);
    unlink(path);
  }
}

static Cost read_large(hid_t access, const char* word) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/%s-0000.h5", directory, word);
  const double begin = now(), cpu = processor_time();
  const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, access);
  check(file >= 0, "H5Fopen");
  const hid_t set = H5Dopen2(file, "field", H5P_DEFAULT);
  check(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0, "H5Dread");
  H5Dclose(set);
  H5Fclose(file);
  return (Cost){now() - begin, processor_time() - cpu};
}

// --- numbers ------------------------------------------------------------------------------------

static int by_value(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static double quantile(const double* values, int count, double part) {
  double sorted[most_rounds];
  memcpy(sorted, values, (size_t)count * sizeof *values);
  qsort(sorted, (size_t)count, sizeof *sorted, by_value);
  const double place = part * (count - 1);
  const int below = (int)place;
  const int above = below + 1 < count ? below + 1 : below;
  return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
}

static void print(const char* name, const char* unit, const Cost* native, const Cost* mcr,
                  int rounds, double scale, bool last) {
  double ratios[most_rounds], cpu_ratios[most_rounds], native_wall[most_rounds],
      mcr_wall[most_rounds];
  for (int i = 0; i < rounds; ++i) {
    native_wall[i] = native[i].wall * scale;
    mcr_wall[i] = mcr[i].wall * scale;
    ratios[i] = mcr[i].wall / native[i].wall;
    cpu_ratios[i] = mcr[i].cpu / native[i].cpu;
  }
  printf(
      "    {\"case\": \"%s\", \"rounds\": %d, \"native_%s\": %.6g, \"mcr_%s\": %.6g, \"ratio\": "
      "%.3f, "
      "\"ratio_quartiles\": [%.3f, %.3f], \"ratio_of_minima\": %.3f, \"cpu_ratio\": %.3f, "
      "\"cpu_ratio_quartiles\": [%.3f, %.3f]}%s\n",
      name, rounds, unit, quantile(native_wall, rounds, 0.5), unit, quantile(mcr_wall, rounds, 0.5),
      quantile(ratios, rounds, 0.5), quantile(ratios, rounds, 0.25), quantile(ratios, rounds, 0.75),
      quantile(mcr_wall, rounds, 0) / quantile(native_wall, rounds, 0),
      quantile(cpu_ratios, rounds, 0.5), quantile(cpu_ratios, rounds, 0.25),
      quantile(cpu_ratios, rounds, 0.75), last ? "" : ",");
}

// Runs `rounds` pairs; mcr and native rounds take turns in being first. `warm`: the pool holds the
// bytes of the round before.
static void compare(const char* name, const char* unit, hid_t native, hid_t mcr, int rounds,
                    int files, void (*write)(hid_t), bool warm, bool fresh, double scale) {
  Cost native_time[most_rounds], mcr_time[most_rounds];
  for (int i = warm ? -1 : 0; i < rounds; ++i) {
    if (!warm) empty_pool();
    const int at = i < 0 ? 0 : i;
    for (int turn = 0; turn < 2; ++turn) {
      if ((turn + i) & 1) {
        native_time[at] = write_files(native, "native", files, write);
        if (fresh) remove_files("native", files);
      } else {
        mcr_time[at] = write_files(mcr, "mcr", files, write);
        if (fresh) remove_files("mcr", files);
        drain(warm);
      }
    }
  }
  print(name, unit, native_time, mcr_time, rounds, scale, false);
  fflush(stdout);
}

static hid_t list_of(const char* connector, const char* text) {
  const hid_t list = H5Pcreate(H5P_FILE_ACCESS);
  const hid_t id = H5VLregister_connector_by_name(connector, H5P_DEFAULT);
  check(id >= 0, connector);
  void* info = NULL;
  if (text) check(H5VLconnector_str_to_info(text, id, &info) >= 0, "H5VLconnector_str_to_info");
  check(H5Pset_vol(list, id, info) >= 0, "H5Pset_vol");
  if (info) H5VLfree_connector_info(id, info);
  return list;
}

int main(int count, char** words) {
  int rounds = 11;
  check(count >= 2, "DIRECTORY is missing; it");
  directory = words[1];
  for (int i = 2; i < count; ++i) {
    if (!strcmp(words[i], "--rounds") && i + 1 < count)
      rounds = atoi(words[++i]);
    else if (!strcmp(words[i], "--megabytes") && i + 1 < count)
      large_bytes = (size_t)atol(words[++i]) << 20;
    else if (!strcmp(words[i], "--quick"))
      rounds = 3, large_bytes = (size_t)64 << 20;
    else
      check(false, words[i]);
  }
  check(rounds > 0 && rounds <= most_rounds, "--rounds");
  data = malloc(large_bytes);
  check(data != NULL, "malloc");
  for (size_t i = 0; i < large_bytes / sizeof *data; ++i) data[i] = (double)i * 0.5;

  snprintf(stage, sizeof stage, "%s/stage", directory);
  char text[2 * PATH_MAX];
  snprintf(text, sizeof text,
           " under_vol=0;under_info={};files=*;exit=leave;log=quiet;stage=%s;rank=0;ranks=1;"
           "launch=bench;node=bench",
           stage);
  lead();
  const hid_t native = list_of("native", NULL);
  const hid_t mcr = list_of("mcr", text);

  printf(
      "{\n  \"bench\": \"application_cost\", \"megabytes\": %zu, \"processors\": %ld,\n  "
      "\"cases\": [\n",
      large_bytes >> 20, sysconf(_SC_NPROCESSORS_ONLN));
  compare("large, new file, cold pool", "s", native, mcr, rounds, 1, write_large, false, true, 1);
  compare("large, new file, warm pool", "s", native, mcr, rounds, 1, write_large, true, true, 1);
  compare("large, overwritten, warm pool", "s", native, mcr, rounds, 1, write_large, true, false,
          1);
  remove_files("native", 1);
  remove_files("mcr", 1);
  empty_pool();
  compare("5000 x 9 KiB, new file, cold pool", "s", native, mcr, rounds, 1, write_small, false,
          true, 1);
  compare("5000 x 9 KiB, new file, warm pool", "s", native, mcr, rounds, 1, write_small, true, true,
          1);
  empty_pool();
  compare("empty, new file, create and close", "us", native, mcr, rounds, files_in_a_row,
          write_nothing, true, true, 1e6 / files_in_a_row);
  compare("empty, overwritten, create and close", "us", native, mcr, rounds, files_in_a_row,
          write_nothing, true, false, 1e6 / files_in_a_row);
  remove_files("native", files_in_a_row);
  remove_files("mcr", files_in_a_row);

  Cost native_time[most_rounds], mcr_time[most_rounds];
  write_files(native, "native", 1, write_large);
  write_files(mcr, "mcr", 1, write_large);
  for (int i = 0; i < rounds; ++i) {
    if (i & 1) native_time[i] = read_large(native, "native");
    mcr_time[i] = read_large(mcr, "mcr");
    if (!(i & 1)) native_time[i] = read_large(native, "native");
  }
  print("large, read from the stage", "s", native_time, mcr_time, rounds, 1, true);
  printf("  ]\n}\n");
  remove_files("native", 1);
  remove_files("mcr", 1);
  drain(false);
  H5Pclose(native);
  H5Pclose(mcr);
  free(data);
  return 0;
}
