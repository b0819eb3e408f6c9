// SPDX-License-Identifier: BSD-3-Clause
// An MPI program whose checkpoints have many small datasets with the iteration in their names, as
// those of Carpet:
//
//   mpiexec -n N changing_layouts DIRECTORY DATASETS CHANGE...
//
// writes a step of DATASETS datasets for each CHANGE, step.S.R.h5 of rank R in the directory. All values and times are
// other ones in each step. A CHANGE other than `values` says what else differs from the first step;
// see main().
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { elements = 40 };

static const char* change;
static int rank, step, datasets;

static int is(const char* word) { return !strcmp(change, word); }

static void check(int is_good, const char* what) {
  if (is_good) return;
  fprintf(stderr, "changing_layouts: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void attribute(hid_t object, const char* name, hid_t type, const void* value) {
  const hid_t space = H5Screate(H5S_SCALAR);
  const hid_t made = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  check(made >= 0 && H5Awrite(made, type, value) >= 0, name);
  H5Aclose(made);
  H5Sclose(space);
}

static void text_attribute(hid_t object, const char* name, const char* text, size_t bytes) {
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, bytes);
  attribute(object, name, type, bytes == H5T_VARIABLE ? (const void*)&text : text);
  H5Tclose(type);
}

static void write_dataset(hid_t file, int number, long iteration) {
  char name[100], text[20] = {0};
  if (is("ranks"))
    snprintf(name, sizeof name, "ML_BSSN::gt%d it=%ld p=%d", number, iteration, rank);
  else
    snprintf(name, sizeof name, "%s/gt%d it=%ld p=0", is("group") ? "patch2" : "patch1", number,
             iteration);
  const hsize_t extent = is("extent") ? elements / 2 : elements, chunk = is("chunk") ? 10 : 20;
  const int fill = is("fill") ? 7 : 3;
  const hid_t space = H5Screate_simple(1, &extent, NULL);
  const hid_t create = H5Pcreate(H5P_DATASET_CREATE), links = H5Pcreate(H5P_LINK_CREATE);
  H5Pset_create_intermediate_group(links, 1);
  if (number % 4 == 0) H5Pset_chunk(create, 1, &chunk);
  if (number % 8 == 0 && is("filter")) H5Pset_shuffle(create);
  if (number % 5 == 0) H5Pset_fill_value(create, H5T_NATIVE_INT, &fill);
  const hid_t type = number == 3 && is("type") ? H5T_IEEE_F64BE : H5T_IEEE_F64LE;
  const hid_t dataset = H5Dcreate2(file, name, type, space, links, create, H5P_DEFAULT);
  double values[elements];
  for (int i = 0; i < elements; ++i) values[i] = number + 0.01 * i * (rank + 1) + step * step;
  check(dataset >= 0, name);
  if (number != 6)
    check(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0, name);
  const double time = 0.25 * step, time_of_rank = step + 0.5 * rank;
  attribute(dataset, "time", H5T_NATIVE_DOUBLE, &time);
  attribute(dataset, "rank's time", H5T_NATIVE_DOUBLE, &time_of_rank);
  const int origin[3] = {number, step, 7};
  const hsize_t three = 3;
  const hid_t triple = H5Tarray_create2(H5T_NATIVE_INT, 1, &three);
  attribute(dataset, "origin", triple, origin);
  H5Tclose(triple);
  snprintf(text, sizeof text, "step %05d", step * 7);
  text_attribute(dataset, "name", text, is("longer") ? 12 : 10);
  if (number % 30 == 0) text_attribute(dataset, "words", is("words") ? "two" : "one", H5T_VARIABLE);
  if (number == 9 && is("more")) attribute(dataset, "more", H5T_NATIVE_INT, &step);
  H5Dclose(dataset);
  H5Pclose(links);
  H5Pclose(create);
  H5Sclose(space);
}

static void write_step(const char* directory) {
  char path[4096];
  snprintf(path, sizeof path, "%s/step.%03d.%d.h5", directory, step, rank);
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  // Names may differ in old-style groups only.
  H5Pset_libver_bounds(access, is("latest") ? H5F_LIBVER_LATEST : H5F_LIBVER_EARLIEST,
                       H5F_LIBVER_LATEST);
  const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
  check(file >= 0, path);
  const long iteration = is("digits") ? 5000 : is("values") ? 100 : 100 + 64 * (long)(step % 8);
  for (int i = 0; i < datasets; ++i)
    write_dataset(file, is("order") ? datasets - 1 - i : i, iteration);
  if (is("link")) H5Lcreate_soft("patch1", file, "soft", H5P_DEFAULT, H5P_DEFAULT);
  attribute(file, "iteration", H5T_NATIVE_LONG, &iteration);
  check(H5Fclose(file) >= 0, path);
  H5Pclose(access);
}

int main(int count, char** words) {
  static const char* const known[] = {"values", "names",  "ranks", "group",  "extent", "chunk",
                                      "fill",   "filter", "type",  "longer", "words",  "more",
                                      "latest", "order",  "link",  "digits"};
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  check(count >= 4, "changing_layouts DIRECTORY DATASETS CHANGE...");
  datasets = atoi(words[2]);
  for (step = 0; step < count - 3; ++step) {
    change = words[step + 3];
    int found = 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i) found = found || is(known[i]);
    check(found, change);
    write_step(words[1]);
  }
  MPI_Finalize();
  return 0;
}
