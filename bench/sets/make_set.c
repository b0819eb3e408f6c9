/* SPDX-License-Identifier: BSD-3-Clause
 * Rank files for the benchmarks, as plain HDF5 writes them:
 *
 *   make_set DIRECTORY [--ranks N | --rank R] [--variables N] [--elements N] [--attributes N]
 *            [--values KIND] [--gzip LEVEL | --zstd LEVEL] [--fsync 1] [--steps N] [--pause MS]
 *            [--over 1] [--iterations N]
 *
 * DIRECTORY/part.0000.h5 and so on; every rank has the same datasets of doubles (names as Cactus gives
 * them: thorn::variable tl=0 rl=… c=…), each with its own values. KIND: `solver`, a smooth field with
 * noise in its lower bits, which compresses like a simulation's state, or `noise`, which does not.
 * --rank writes one rank's file alone: started once per rank it is a job without MPI. --steps writes all
 * of it so many times, with a pause before each but the first, as step.0001/part.0000.h5 and so on, the
 * same values each time; the directories must be there. With --over, each step is written over the one
 * before, as part.0000.h5 and so on. --iterations is the number by which `it=` in the
 * names grows from step to step, as Carpet's names do; 0 leaves the names. Prints what the program waited for, a line for
 * each step: seconds from H5Fcreate to the return of H5Fclose (and of fsync), values being ready.
 * The same arguments give the same bytes. */
#include <fcntl.h>
#include <hdf5.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "zstd_filter.h"

static uint64_t next_random(uint64_t* state) {
  *state += UINT64_C(0x9e3779b97f4a7c15);
  uint64_t z = *state;
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

/* A wave and 20 noisy bits below it: about the ratio of real state. */
static void fill(double* values, size_t count, unsigned rank, unsigned variable, int is_noise) {
  uint64_t state = (uint64_t)rank << 32 | variable;
  double phase = 0.37 * rank + 0.11 * variable, step = 0.001 + 0.0001 * (variable % 17);
  for (size_t i = 0; i < count; ++i) {
    const uint64_t random = next_random(&state);
    if (is_noise) {
      memcpy(&values[i], &random, sizeof random);
    } else {
      values[i] = (1.5 + sin(phase + step * (double)i)) * (1.0 + 0x1p-52 * (double)(random >> 44));
    }
  }
}

static void check(int is_good, const char* what) {
  if (is_good) return;
  fprintf(stderr, "make_set: %s\n", what);
  exit(1);
}

struct shape {
  unsigned variables, attributes, gzip, zstd;
  hsize_t elements;
  int syncs;
};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void write_part(const char* path, unsigned rank, unsigned long iteration,
                       const struct shape* shape, const double* values) {
  const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  check(file >= 0, path);
  const hid_t space = H5Screate_simple(1, &shape->elements, NULL), scalar = H5Screate(H5S_SCALAR);
  const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
  if (shape->gzip || shape->zstd) {
    const hsize_t chunk = shape->elements < 131072 ? shape->elements : 131072;
    check(H5Pset_chunk(properties, 1, &chunk) >= 0 && H5Pset_shuffle(properties) >= 0, "chunks");
  }
  if (shape->gzip) check(H5Pset_deflate(properties, shape->gzip) >= 0, "gzip");
  if (shape->zstd) {
    check(H5Pset_filter(properties, zstd_filter, H5Z_FLAG_MANDATORY, 1, &shape->zstd) >= 0, "zstd");
  }
  for (unsigned v = 0; v < shape->variables; ++v) {
    char name[100];
    snprintf(name, sizeof name, "ML_BSSN::gt%u it=%lu tl=0 rl=%u c=%u", v % 25, iteration,
             v / 25 % 8, v / 200);
    const hid_t dataset =
        H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    check(dataset >= 0 && H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                                   values + v * shape->elements) >= 0,
          name);
    for (unsigned a = 0; a < shape->attributes; ++a) {
      snprintf(name, sizeof name, "attribute%u", a);
      const double value = a == 0 ? rank : v;
      const hid_t attribute =
          H5Acreate2(dataset, name, H5T_NATIVE_DOUBLE, scalar, H5P_DEFAULT, H5P_DEFAULT);
      check(attribute >= 0 && H5Awrite(attribute, H5T_NATIVE_DOUBLE, &value) >= 0, name);
      H5Aclose(attribute);
    }
    H5Dclose(dataset);
  }
  H5Pclose(properties);
  H5Sclose(scalar);
  H5Sclose(space);
  check(H5Fclose(file) >= 0, path);
  if (!shape->syncs) return;
  const int descriptor = open(path, O_RDONLY);
  check(descriptor >= 0 && fsync(descriptor) == 0, "fsync");
  close(descriptor);
}

int main(int count, char** words) {
  unsigned long first = 0, ranks = 4, steps = 0, pause = 0, iterations = 0, over = 0;
  struct shape shape = {.variables = 10, .elements = 1000};
  int is_noise = 0;
  if (count < 2 || count % 2 != 0) return fprintf(stderr, "make_set: see its first lines\n"), 2;
  for (int i = 2; i + 1 < count; i += 2) {
    const unsigned long number = strtoul(words[i + 1], NULL, 10);
    if (!strcmp(words[i], "--ranks"))
      ranks = number;
    else if (!strcmp(words[i], "--rank"))
      first = number, ranks = number + 1;
    else if (!strcmp(words[i], "--variables"))
      shape.variables = (unsigned)number;
    else if (!strcmp(words[i], "--elements"))
      shape.elements = number;
    else if (!strcmp(words[i], "--attributes"))
      shape.attributes = (unsigned)number;
    else if (!strcmp(words[i], "--gzip"))
      shape.gzip = (unsigned)number;
    else if (!strcmp(words[i], "--zstd"))
      shape.zstd = (unsigned)number;
    else if (!strcmp(words[i], "--steps"))
      steps = number;
    else if (!strcmp(words[i], "--pause"))
      pause = number;
    else if (!strcmp(words[i], "--over"))
      over = number;
    else if (!strcmp(words[i], "--iterations"))
      iterations = number;
    else if (!strcmp(words[i], "--fsync"))
      shape.syncs = number != 0;
    else if (!strcmp(words[i], "--values"))
      is_noise = !strcmp(words[i + 1], "noise");
    else
      return fprintf(stderr, "make_set: no option %s\n", words[i]), 2;
  }
  double* values = malloc((size_t)shape.variables * shape.elements * sizeof *values + 1);
  check(values != NULL, "memory");
  H5open();
  if (shape.zstd) check(register_zstd_filter() == 0, "the filter zstd");
  for (unsigned long step = 0; step < (steps ? steps : 1); ++step) {
    char directory[4096];
    snprintf(directory, sizeof directory, steps && !over ? "%s/step.%04lu" : "%s", words[1], step);
    const struct timespec between = {(time_t)(pause / 1000), (long)(pause % 1000) * 1000000};
    if (step > 0) nanosleep(&between, NULL);
    double seconds = 0;
    for (unsigned long rank = first; rank < ranks; ++rank) {
      char path[4200];
      snprintf(path, sizeof path, "%s/part.%04lu.h5", directory, rank);
      if (step == 0 || ranks > first + 1) {
        for (unsigned v = 0; v < shape.variables; ++v)
          fill(values + v * shape.elements, shape.elements, (unsigned)rank, v, is_noise);
      }
      const double begin = now();
      write_part(path, (unsigned)rank, 512 + step * iterations, &shape, values);
      seconds += now() - begin;
    }
    printf("%.6f\n", seconds);
  }
  free(values);
  return 0;
}
