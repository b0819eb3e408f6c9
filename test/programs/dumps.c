// SPDX-License-Identifier: BSD-3-Clause
// An MPI program that dumps its state as real codes do. Not every kind of dump has one file for
// each rank:
//
//   mpiexec -n 4 dumps KIND DIRECTORY FIRST LAST [HOLD]
//
//   own      each rank writes ck_<step>_<rank>.h5: rank 0's in step 0 bears its number twice
//   turns    two ranks write one file in turn, f_<group>_<step>.h5: the first creates it, the other
//            opens it and adds to it (MACSio, Silo's PMPIO)
//   fewer    every second rank writes a file, snapdir_<step>/snapshot_<step>.<number>.hdf5, for
//            itself and the next (GADGET with fewer files than ranks)
//   beside   each rank writes DD<step>/DD<step>.cpu<rank>.h5, and rank 0 alone
//            DD<step>/DD<step>.boundary.hdf (Enzo)
//
// Steps before FIRST are read and compared; steps FIRST to LAST are dumped. In step HOLD all ranks
// stop before they close their files, and wait to be killed.
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { count = 6000 };

static int rank, ranks;

static void fail(const char* what, const char* name) {
  fprintf(stderr, "dumps: rank %d: %s %s\n", rank, what, name);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static double value(int step, int writer, int i) { return step * 1e3 + writer + i * 0.25; }

static void write_state(hid_t file, int step, int writer) {
  static double data[count];
  for (int i = 0; i < count; ++i) data[i] = value(step, writer, i);
  char name[32];
  snprintf(name, sizeof name, "state%d", writer);
  const hsize_t extent = count;
  const hid_t space = H5Screate_simple(1, &extent, NULL);
  const hid_t set =
      H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  if (H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0)
    fail("cannot write", name);
  H5Dclose(set);
  H5Sclose(space);
}

static void check_state(hid_t file, int step, int writer) {
  static double data[count];
  char name[32];
  snprintf(name, sizeof name, "state%d", writer);
  const hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
  if (H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0)
    fail("cannot read", name);
  for (int i = 0; i < count; ++i)
    if (data[i] != value(step, writer, i)) fail("wrong value in", name);
  H5Dclose(set);
}

static hid_t create(const char* path) {
  const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  if (file < 0) fail("cannot create", path);
  return file;
}

static hid_t open_file(const char* path, unsigned flags) {
  const hid_t file = H5Fopen(path, flags, H5P_DEFAULT);
  if (file < 0) fail("cannot open", path);
  return file;
}

static int holds;  // the step HOLD

static void close_file(hid_t file, const char* path) {
  if (holds) {
    printf("held\n");
    fflush(stdout);
    pause();
  }
  if (H5Fclose(file) < 0) fail("cannot close", path);
}

static void put(const char* path, int step, int begin, int end, int reads) {
  const hid_t file = reads ? open_file(path, H5F_ACC_RDONLY) : create(path);
  for (int writer = begin; writer < end; ++writer)
    reads ? check_state(file, step, writer) : write_state(file, step, writer);
  if (reads)
    H5Fclose(file);
  else
    close_file(file, path);
}

static void make_directory(const char* path) {
  if (rank == 0) mkdir(path, 0777);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void own(const char* directory, int step, int reads) {
  char path[4096];
  snprintf(path, sizeof path, "%s/ck_%05d_%03d.h5", directory, step, rank);
  put(path, step, rank, rank + 1, reads);
}

static void fewer(const char* directory, int step, int reads) {
  char path[4096];
  snprintf(path, sizeof path, "%s/snapdir_%03d", directory, step);
  make_directory(path);
  if (rank % 2) return;
  snprintf(path, sizeof path, "%s/snapdir_%03d/snapshot_%03d.%d.hdf5", directory, step, step,
           rank / 2);
  put(path, step, rank, rank + 2 < ranks ? rank + 2 : ranks, reads);
}

static void beside(const char* directory, int step, int reads) {
  char path[4096];
  snprintf(path, sizeof path, "%s/DD%04d", directory, step);
  make_directory(path);
  snprintf(path, sizeof path, "%s/DD%04d/DD%04d.cpu%04d.h5", directory, step, step, rank);
  put(path, step, rank, rank + 1, reads);
  if (rank) return;
  snprintf(path, sizeof path, "%s/DD%04d/DD%04d.boundary.hdf", directory, step, step);
  put(path, step, 0, 1, reads);
}

static void turns(const char* directory, int step, int reads) {
  char path[4096];
  const int first = rank / 2 * 2;
  int baton = 0;
  snprintf(path, sizeof path, "%s/f_%03d_%03d.h5", directory, rank / 2, step);
  if (reads) {
    const hid_t file = open_file(path, H5F_ACC_RDONLY);
    check_state(file, step, rank);
    H5Fclose(file);
    return;
  }
  if (rank != first) MPI_Recv(&baton, 1, MPI_INT, first, step, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const hid_t file = rank == first ? create(path) : open_file(path, H5F_ACC_RDWR);
  write_state(file, step, rank);
  close_file(file, path);
  if (rank == first && rank + 1 < ranks)
    MPI_Send(&baton, 1, MPI_INT, rank + 1, step, MPI_COMM_WORLD);
}

int main(int argc, char** words) {
  MPI_Init(&argc, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 5) {
    fprintf(stderr, "usage: dumps own|turns|fewer|beside DIRECTORY FIRST LAST [HOLD]\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const char* const kind = words[1];
  const char* const directory = words[2];
  const int first = atoi(words[3]), last = atoi(words[4]), hold = argc > 5 ? atoi(words[5]) : -1;
  void (*const dump)(const char*, int, int) = !strcmp(kind, "turns")    ? turns
                                              : !strcmp(kind, "fewer")  ? fewer
                                              : !strcmp(kind, "beside") ? beside
                                                                        : own;
  make_directory(directory);
  for (int step = 0; step <= last; ++step) {
    holds = step == hold;
    dump(directory, step, step < first);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
