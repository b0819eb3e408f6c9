// SPDX-License-Identifier: BSD-3-Clause
// The program with which docs/packaging/prove tries an installation: a serial program that knows nothing of mcr.
//
//   proof write DIR   creates DIR/part0.h5 to DIR/part3.h5
//   proof read DIR    reads them, and ends with status 1 if a value is not the one that was written
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { files = 4, rows = 500, columns = 40 };

static double expected(int file, int row, int column) { return file * 1000 + row + column / 64.0; }

static hid_t must(hid_t id, const char* what) {
  if (id < 0) {
    fprintf(stderr, "proof: %s failed\n", what);
    exit(1);
  }
  return id;
}

static void write_file(const char* name, int number) {
  static double field[rows][columns];
  for (int i = 0; i < rows; ++i)
    for (int k = 0; k < columns; ++k) field[i][k] = expected(number, i, k);
  // Without times, so that two runs give the same bytes.
  hid_t creation = must(H5Pcreate(H5P_FILE_CREATE), "H5Pcreate");
  must(H5Pset_obj_track_times(creation, 0), "H5Pset_obj_track_times");
  hid_t without_times = must(H5Pcreate(H5P_DATASET_CREATE), "H5Pcreate");
  must(H5Pset_obj_track_times(without_times, 0), "H5Pset_obj_track_times");
  hid_t file = must(H5Fcreate(name, H5F_ACC_TRUNC, creation, H5P_DEFAULT), "H5Fcreate");
  hid_t space = must(H5Screate_simple(2, (hsize_t[]){rows, columns}, NULL), "H5Screate_simple");
  hid_t data = must(
      H5Dcreate2(file, "field", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, without_times, H5P_DEFAULT),
      "H5Dcreate2");
  must(H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, field), "H5Dwrite");
  H5Dclose(data);
  H5Sclose(space);
  must(H5Fclose(file), "H5Fclose");
  H5Pclose(without_times);
  H5Pclose(creation);
}

static void read_file(const char* name, int number) {
  static double field[rows][columns];
  hid_t file = must(H5Fopen(name, H5F_ACC_RDONLY, H5P_DEFAULT), "H5Fopen");
  hid_t data = must(H5Dopen2(file, "field", H5P_DEFAULT), "H5Dopen2");
  must(H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, field), "H5Dread");
  for (int i = 0; i < rows; ++i)
    for (int k = 0; k < columns; ++k)
      if (field[i][k] != expected(number, i, k)) {
        fprintf(stderr, "proof: %s: row %d, column %d is wrong\n", name, i, k);
        exit(1);
      }
  H5Dclose(data);
  must(H5Fclose(file), "H5Fclose");
}

int main(int count, char** words) {
  if (count != 3 || (strcmp(words[1], "write") != 0 && strcmp(words[1], "read") != 0)) {
    fputs("usage: proof write|read DIR\n", stderr);
    return 2;
  }
  for (int number = 0; number < files; ++number) {
    char name[4096];
    snprintf(name, sizeof name, "%s/part%d.h5", words[2], number);
    if (words[1][0] == 'w')
      write_file(name, number);
    else
      read_file(name, number);
  }
  return 0;
}
