// SPDX-License-Identifier: BSD-3-Clause
// An MPI program whose environment does not show the launcher: after MPI_Init it removes every
// variable that could tell a rank. Each rank writes, closes and reads a file.
//
//   mpiexec -n 4 mpi_world DIRECTORY
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char** environ;

static void forget_launcher(void) {
  static const char* const words[] = {"PMI", "OMPI", "MPI", "HYD", "SLURM", "MV2", "PALS", "FLUX"};
  for (char** variable = environ; *variable;) {
    char name[256];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(*variable, "="), *variable);
    int found = 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i)
      found = found || !strncmp(name, words[i], strlen(words[i]));
    if (!found || unsetenv(name) != 0)
      ++variable;
    else
      variable = environ;
  }
}

int main(int count, char** words) {
  int rank = -1;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  forget_launcher();
  char path[4096];
  snprintf(path, sizeof path, "%s/world.%d.h5", count > 1 ? words[1] : ".", rank);
  const hsize_t extent = 4000;
  static int data[4000], back[4000];
  for (int i = 0; i < 4000; ++i) data[i] = rank * 100000 + i;
  hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t space = H5Screate_simple(1, &extent, NULL);
  hid_t set = H5Dcreate2(file, "x", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  int bad = H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0;
  bad |= H5Dclose(set) < 0 || H5Sclose(space) < 0 || H5Fclose(file) < 0;
  MPI_Barrier(MPI_COMM_WORLD);
  file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  set = H5Dopen2(file, "x", H5P_DEFAULT);
  bad |= H5Dread(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, back) < 0;
  bad |= memcmp(data, back, sizeof data) != 0;
  bad |= H5Dclose(set) < 0 || H5Fclose(file) < 0;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return bad;
}
