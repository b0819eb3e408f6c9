// SPDX-License-Identifier: BSD-3-Clause
#include "checkpoints.h"

#include <errno.h>
#include <getopt.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

double run_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

_Noreturn void run_fail(const char* format, ...) {
  va_list values;
  va_start(values, format);
  vfprintf(stderr, format, values);
  va_end(values);
  fputc('\n', stderr);
  MPI_Abort(MPI_COMM_WORLD, 1);
  abort();
}

hid_t must(hid_t result, const char* what) {
  if (result < 0) run_fail("HDF5 failed: %s", what);
  return result;
}

uint64_t mix(uint64_t hash, const void* bytes, size_t count) {
  const unsigned char* p = bytes;
  for (size_t i = 0; i < count; ++i) hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
  return hash;
}

// --- options ------------------------------------------------------------------------------------

static void print_help(const char* program, const char* title, const char* size_meaning) {
  printf(
      "%s: %s\n\n"
      "mpiexec -n RANKS %s [options]\n\n"
      "  --size N       %s\n"
      "  --steps N      time steps (20)\n"
      "  --every N      a checkpoint after every N steps (5)\n"
      "  --dir D        directory of the checkpoints (.)\n"
      "  --names P      names of the rank files below D (step{step:5}/rank{rank:4}.h5);\n"
      "                 {step} {rank} {ranks} {slot}; {step:5} with leading zeros,\n"
      "                 {rank/4} divided; without {step} and {slot} each checkpoint\n"
      "                 overwrites the last one\n"
      "  --slots N      {slot} counts 0 to N-1 and begins again (2)\n"
      "  --keep N       remove all but the newest N checkpoints\n"
      "  --rename       write to NAME.tmp, then rename\n"
      "  --gzip         chunked, compressed datasets\n"
      "  --restart      go on from the newest complete checkpoint, if there is one\n"
      "  --start FILE   go on from a file of the whole field, as `mcr view` writes it\n"
      "  --sleep MS     sleep in every step\n",
      program, title, program, size_meaning);
}

static void make_folders(const char* path) {
  char* copy = strdup(path);
  for (char* slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    if (mkdir(copy, 0777) && errno != EEXIST) run_fail("cannot make %s: %s", copy, strerror(errno));
    *slash = '/';
  }
  free(copy);
}

void run_begin(struct run* run, int* count, char*** words, const char* title,
               const char* size_meaning) {
  MPI_Init(count, words);
  *run = (struct run){.size = run->size,
                      .steps = 20,
                      .every = 5,
                      .dir = ".",
                      .names = "step{step:5}/rank{rank:4}.h5",
                      .slots = 2};
  MPI_Comm_rank(MPI_COMM_WORLD, &run->rank);
  MPI_Comm_size(MPI_COMM_WORLD, &run->ranks);
  static const struct option options[] = {
      {"size", required_argument, 0, 'n'},  {"steps", required_argument, 0, 's'},
      {"every", required_argument, 0, 'e'}, {"dir", required_argument, 0, 'd'},
      {"names", required_argument, 0, 'p'}, {"slots", required_argument, 0, 'l'},
      {"keep", required_argument, 0, 'k'},  {"rename", no_argument, 0, 't'},
      {"gzip", no_argument, 0, 'z'},        {"restart", no_argument, 0, 'r'},
      {"sleep", required_argument, 0, 'w'}, {"start", required_argument, 0, 'f'},
      {"help", no_argument, 0, 'h'},        {0, 0, 0, 0}};
  const char* program = strrchr((*words)[0], '/') ? strrchr((*words)[0], '/') + 1 : (*words)[0];
  for (int letter; (letter = getopt_long(*count, *words, "", options, NULL)) != -1;) {
    long* number = letter == 'n'   ? &run->size
                   : letter == 's' ? &run->steps
                   : letter == 'e' ? &run->every
                   : letter == 'l' ? &run->slots
                   : letter == 'k' ? &run->keep
                   : letter == 'w' ? &run->sleep_ms
                                   : NULL;
    if (number) {
      char* end;
      *number = strtol(optarg, &end, 10);
      if (*end || *number < 0) run_fail("%s: '%s' is not a number that fits here", program, optarg);
    } else if (letter == 'd') {
      run->dir = optarg;
    } else if (letter == 'p') {
      run->names = optarg;
    } else if (letter == 'f') {
      run->start = optarg;
    } else if (letter == 't') {
      run->rename = true;
    } else if (letter == 'z') {
      run->gzip = true;
    } else if (letter == 'r') {
      run->restart = true;
    } else {
      if (run->rank == 0) print_help(program, title, size_meaning);
      MPI_Finalize();
      exit(letter == 'h' ? 0 : 2);
    }
  }
  if (run->every < 1) run->every = run->steps + 1;
  if (run->slots < 1) run->slots = 1;
}

// --- names --------------------------------------------------------------------------------------

const char* run_path(const struct run* run, long step) {
  static char path[4096];
  size_t at = (size_t)snprintf(path, sizeof path, "%s/", run->dir);
  for (const char* p = run->names; *p && at < sizeof path - 1; ++p) {
    char key[8];
    int width = 1, used = 0;
    if (*p != '{' || sscanf(p, "{%7[a-z]%n", key, &used) != 1 || used == 0) {
      path[at++] = *p;
      continue;
    }
    long divisor = 1;
    if (p[used] == '/') {
      int more = 0;
      sscanf(p + used, "/%ld%n", &divisor, &more);
      used += more;
    }
    if (p[used] == ':') {
      int more = 0;
      sscanf(p + used, ":%d%n", &width, &more);
      used += more;
    }
    long value = !strcmp(key, "step")    ? step
                 : !strcmp(key, "rank")  ? run->rank
                 : !strcmp(key, "ranks") ? run->ranks
                 : !strcmp(key, "slot")  ? step / run->every % run->slots
                                         : -1;
    if (value < 0 || divisor < 1 || p[used] != '}') run_fail("--names: '%s' is not understood", p);
    at += (size_t)snprintf(path + at, sizeof path - at, "%0*ld", width, value / divisor);
    p += used;
  }
  path[at < sizeof path ? at : sizeof path - 1] = 0;
  return path;
}

// --- writing ------------------------------------------------------------------------------------

hid_t run_create(struct run* run, long step) {
  char path[4200];
  snprintf(path, sizeof path, "%s%s", run_path(run, step), run->rename ? ".tmp" : "");
  make_folders(path);
  run->checkpoint_begin = run_clock();
  hid_t file = must(H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), path);
  write_number(file, "step", H5T_NATIVE_LONG, &step);
  return file;
}

void run_commit(struct run* run, hid_t file, long step) {
  hsize_t bytes = 0;
  must(H5Fget_filesize(file, &bytes), "H5Fget_filesize");
  must(H5Fclose(file), "H5Fclose");
  const char* path = run_path(run, step);
  if (run->rename) {
    char temporary[4200];
    snprintf(temporary, sizeof temporary, "%s.tmp", path);
    if (rename(temporary, path)) run_fail("cannot rename %s: %s", temporary, strerror(errno));
  }
  const double waited = run_clock() - run->checkpoint_begin;
  double slowest = 0;
  run->checkpoint_seconds += waited;
  run->written += 1;
  run->written_bytes += (long)bytes;
  MPI_Allreduce(&waited, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);  // a barrier, too
  const long old = step - run->keep * run->every;
  if (run->keep && old > 0) {
    char written[4200];
    snprintf(written, sizeof written, "%s", path);
    if (strcmp(written, run_path(run, old))) remove(run_path(run, old));
  }
  if (run->rank == 0) {
    printf("checkpoint after step %ld, slowest rank waited %.6f s\n", step, slowest);
    fflush(stdout);
  }
}

// --- reading ------------------------------------------------------------------------------------

long run_newest(const struct run* run, hid_t* file) {
  for (long step = run->steps / run->every * run->every; step > 0; step -= run->every) {
    H5E_auto2_t print;
    void* data;
    H5Eget_auto2(H5E_DEFAULT, &print, &data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);  // that a file is not there is no error here
    *file = H5Fopen(run_path(run, step), H5F_ACC_RDONLY, H5P_DEFAULT);
    H5Eset_auto2(H5E_DEFAULT, print, data);
    long found = -1;
    if (*file >= 0) read_number(*file, "step", H5T_NATIVE_LONG, &found);
    int mine = found == step, all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (all) {
      if (run->rank == 0) printf("restart from step %ld\n", step);
      fflush(stdout);
      return step;
    }
    if (*file >= 0) H5Fclose(*file);
  }
  *file = H5I_INVALID_HID;
  if (run->rank == 0) printf("no complete checkpoint: from the beginning\n");
  fflush(stdout);
  return 0;
}

// --- the end ------------------------------------------------------------------------------------

void run_end(struct run* run, uint64_t checksum) {
  double slowest = 0;
  long all_bytes = 0;
  MPI_Reduce(&run->checkpoint_seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Reduce(&run->written_bytes, &all_bytes, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (run->rank == 0) {
    printf("checkpoints %ld of %d files, %ld bytes, slowest rank waited %.6f s\n", run->written,
           run->ranks, all_bytes, slowest);
    printf("answer %016llx\n", (unsigned long long)checksum);
    fflush(stdout);
  }
  MPI_Finalize();
}

// --- HDF5 ---------------------------------------------------------------------------------------

void write_array(const struct run* run, hid_t place, const char* name, hid_t type, int rank,
                 const hsize_t* shape, const void* data) {
  hid_t space = must(H5Screate_simple(rank, shape, NULL), name);
  hid_t properties = must(H5Pcreate(H5P_DATASET_CREATE), name);
  if (run->gzip && shape[0] > 0) {
    must(H5Pset_chunk(properties, rank, shape), name);
    must(H5Pset_deflate(properties, 1), name);
  }
  hid_t dataset =
      must(H5Dcreate2(place, name, type, space, H5P_DEFAULT, properties, H5P_DEFAULT), name);
  must(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data), name);
  H5Dclose(dataset);
  H5Pclose(properties);
  H5Sclose(space);
}

void read_array(hid_t place, const char* name, hid_t type, void* data) {
  hid_t dataset = must(H5Dopen2(place, name, H5P_DEFAULT), name);
  must(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data), name);
  H5Dclose(dataset);
}

void write_number(hid_t place, const char* name, hid_t type, const void* value) {
  hid_t space = must(H5Screate(H5S_SCALAR), name);
  hid_t attribute = must(H5Acreate2(place, name, type, space, H5P_DEFAULT, H5P_DEFAULT), name);
  must(H5Awrite(attribute, type, value), name);
  H5Aclose(attribute);
  H5Sclose(space);
}

void read_number(hid_t place, const char* name, hid_t type, void* value) {
  hid_t attribute = must(H5Aopen(place, name, H5P_DEFAULT), name);
  must(H5Aread(attribute, type, value), name);
  H5Aclose(attribute);
}
