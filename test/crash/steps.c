// SPDX-License-Identifier: BSD-3-Clause
// The ranks of the crash tests: a program that writes checkpoints for ever, in one of the ways of
// real programs, or reads what a restart sees. It uses no MPI; ranks wait for one another by files.
//
//   steps write IDIOM FIRST ELEMENTS MEET   writes steps FIRST, FIRST + 1, …; MEET: a directory
//   steps read IDIOM STEP                   what plain H5Fopen gives; STEP: for the idiom `steps`
//   steps read IDIOM STEP RANKS             the same in one process, which opens the files of all ranks
//
// IDIOM: same (one name, overwritten), renamed (written as tmp, renamed over the old name), steps
// (a name for each step), ring (two names in turn). `write` says "closed N" when this rank's file
// of step N is closed under its final name; `read` compares every element with what that rank wrote
// in that step, and says "rank R has N". Status 3: wrong data; 4: the file does not open.
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int rank, ranks;

static int number_of(const char* first, const char* second, const char* third) {
  const char* text = getenv(first);
  if (!text) text = getenv(second);
  if (!text) text = getenv(third);
  return text ? atoi(text) : 0;
}

static double value(int step, size_t i) {
  return step * 1e6 + rank * 1e4 + (double)(i % 9973) * 0.5;
}

static void final_name(const char* idiom, int step, char* name, size_t size) {
  if (!strcmp(idiom, "steps")) {
    snprintf(name, size, "step%05d.%d.h5", step, rank);
  } else if (!strcmp(idiom, "ring")) {
    snprintf(name, size, "%c.%d.h5", "ab"[step % 2], rank);
  } else {
    snprintf(name, size, "ckpt.%d.h5", rank);
  }
}

static void meet(const char* directory, int step) {
  char name[4096];
  snprintf(name, sizeof name, "%s/%d.%d", directory, step, rank);
  FILE* mine = fopen(name, "w");
  if (mine) fclose(mine);
  for (int other = 0; other < ranks; ++other) {
    snprintf(name, sizeof name, "%s/%d.%d", directory, step, other);
    while (access(name, F_OK) != 0) {
      const struct timespec pause = {0, 500000};
      nanosleep(&pause, NULL);
    }
  }
}

static int write_step(const char* idiom, int step, size_t elements, double* data) {
  char name[256], made[256];
  final_name(idiom, step, name, sizeof name);
  const int renamed = !strcmp(idiom, "renamed");
  if (renamed)
    snprintf(made, sizeof made, "tmp.%d.h5", rank);
  else
    snprintf(made, sizeof made, "%s", name);
  const hid_t file = H5Fcreate(made, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  if (file < 0) return -1;
  const hsize_t size = elements;
  const hid_t space = H5Screate_simple(1, &size, NULL);
  const hid_t scalar = H5Screate(H5S_SCALAR);
  const hid_t attribute =
      H5Acreate2(file, "step", H5T_NATIVE_INT, scalar, H5P_DEFAULT, H5P_DEFAULT);
  int status = H5Awrite(attribute, H5T_NATIVE_INT, &step) < 0;
  H5Aclose(attribute);
  for (size_t i = 0; i < elements; ++i) data[i] = value(step, i);
  const hid_t dataset =
      H5Dcreate2(file, "x", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  status |= H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0;
  H5Dclose(dataset);
  H5Sclose(scalar);
  H5Sclose(space);
  status |= H5Fclose(file) < 0;
  if (renamed) status |= rename(made, name) != 0;
  return status ? -1 : 0;
}

static int read_step(const char* idiom, int step) {
  char name[256];
  final_name(idiom, step, name, sizeof name);
  const hid_t file = H5Fopen(name, H5F_ACC_RDONLY, H5P_DEFAULT);
  if (file < 0) return 4;
  int found = -1;
  const hid_t attribute = H5Aopen(file, "step", H5P_DEFAULT);
  if (attribute < 0 || H5Aread(attribute, H5T_NATIVE_INT, &found) < 0) return 4;
  H5Aclose(attribute);
  const hid_t dataset = H5Dopen2(file, "x", H5P_DEFAULT);
  const hid_t space = dataset < 0 ? -1 : H5Dget_space(dataset);
  if (space < 0) return 4;
  const size_t elements = (size_t)H5Sget_simple_extent_npoints(space);
  double* data = malloc(elements * sizeof *data + 1);
  if (H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0) return 4;
  for (size_t i = 0; i < elements; ++i) {
    if (data[i] == value(found, i)) continue;
    fprintf(stderr, "steps: rank %d, step %d, element %zu is %.17g, not %.17g\n", rank, found, i,
            data[i], value(found, i));
    return 3;
  }
  free(data);
  H5Sclose(space);
  H5Dclose(dataset);
  H5Fclose(file);
  printf("rank %d has %d\n", rank, found);
  return 0;
}

int main(int count, char** words) {
  rank = number_of("PMI_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID");
  ranks = number_of("PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS");
  if (ranks < 1) ranks = 1;
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (count == 4 && !strcmp(words[1], "read")) return read_step(words[2], atoi(words[3]));
  if (count == 5 && !strcmp(words[1], "read")) {
    int status = 0;
    for (rank = 0; !status && rank < atoi(words[4]); ++rank)
      status = read_step(words[2], atoi(words[3]));
    return status;
  }
  if (count != 6 || strcmp(words[1], "write")) {
    fprintf(stderr, "usage: see steps.c\n");
    return 2;
  }
  const size_t elements = (size_t)atol(words[4]);
  double* data = malloc(elements * sizeof *data + 1);
  for (int step = atoi(words[3]);; ++step) {
    meet(words[5], step);
    if (write_step(words[2], step, elements, data)) {
      fprintf(stderr, "steps: rank %d cannot write step %d\n", rank, step);
      return 1;
    }
    printf("closed %d %d\n", rank, step);
  }
}
