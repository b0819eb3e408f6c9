// SPDX-License-Identifier: BSD-3-Clause
// A checkpoint of very many small datasets, in groups of 500 that have attributes:
//
//   many_datasets COUNT FILE      {rank} in FILE stands for the rank's number
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { per_group = 500, elements = 20 };

static int rank_of_process(void) {
  const char* names[] = {"PMI_RANK", "OMPI_COMM_WORLD_RANK"};
  for (int i = 0; i < 2; ++i)
    if (getenv(names[i])) return atoi(getenv(names[i]));
  return 0;
}

static void attribute(hid_t object, const char* name, int value) {
  const hid_t space = H5Screate(H5S_SCALAR);
  const hid_t made = H5Acreate2(object, name, H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT);
  if (H5Awrite(made, H5T_NATIVE_INT, &value) < 0) exit(1);
  H5Aclose(made);
  H5Sclose(space);
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int count = atoi(argv[1]), rank = rank_of_process();
  char path[4096];
  const char* const mark = strstr(argv[2], "{rank}");
  if (mark)
    snprintf(path, sizeof path, "%.*s%d%s", (int)(mark - argv[2]), argv[2], rank, mark + 6);
  else
    snprintf(path, sizeof path, "%s", argv[2]);
  const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hsize_t extent = elements;
  const hid_t space = H5Screate_simple(1, &extent, NULL);
  hid_t group = -1;
  for (int n = 0; n < count; ++n) {
    char name[32];
    if (n % per_group == 0) {
      if (group >= 0) H5Gclose(group);
      snprintf(name, sizeof name, "group%d", n / per_group);
      group = H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
      for (int a = 0; a < 3; ++a) {
        snprintf(name, sizeof name, "attribute%d", a);
        attribute(group, name, n + a);
      }
    }
    double values[elements];
    for (int i = 0; i < elements; ++i) values[i] = n % 7 + 0.125 * i + (n % 5 == 0 ? rank : 0);
    snprintf(name, sizeof name, "set%d", n);
    const hid_t set =
        H5Dcreate2(group, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0) return 1;
    if (n % per_group == 0) attribute(set, "first", rank);
    H5Dclose(set);
  }
  H5Gclose(group);
  H5Sclose(space);
  return H5Fclose(file) < 0;
}
