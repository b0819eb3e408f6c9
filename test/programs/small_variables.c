// SPDX-License-Identifier: BSD-3-Clause
// A checkpoint of many small datasets of several kinds:
//
//   small_variables COUNT FILE      {rank} in FILE stands for the rank's number
//
// COUNT datasets of each kind: of 16 numbers (`same`), of 1 to 4 rows that depend on the rank (`mixed`), with attributes (`told`), in
// one rank only (`own`), in chunks, and compressed. `names` has names that are unusual.
#include <hdf5.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static hid_t file;
static int rank;

static void check(int is_good, const char* what) {
  if (is_good) return;
  fprintf(stderr, "small_variables: %s\n", what);
  exit(1);
}

static int rank_of_process(void) {
  const char* names[] = {"PMI_RANK", "OMPI_COMM_WORLD_RANK"};
  for (int i = 0; i < 2; ++i)
    if (getenv(names[i])) return atoi(getenv(names[i]));
  return 0;
}

/* Every fourth dataset is zeros, smooth, random, or of few values. */
static double value_of(int dataset, int i) {
  static uint64_t state = 1;
  state = state * UINT64_C(6364136223846793005) + 1442695040888963407u + (uint64_t)rank;
  switch (dataset % 4) {
    case 0:
      return 0;
    case 1:
      return dataset + 0.125 * i + rank;
    case 2:
      return (double)(state >> 11);
    default:
      return (double)(state >> 61);
  }
}

static hid_t write_dataset(const char* name, int number, int dimensions, const hsize_t* extents,
                           hid_t properties) {
  static hid_t links = -1;
  if (links < 0) {
    links = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    H5Pset_char_encoding(links, H5T_CSET_UTF8);
  }
  double values[256];
  int count = 1;
  for (int i = 0; i < dimensions; ++i) count *= (int)extents[i];
  for (int i = 0; i < count; ++i) values[i] = value_of(number, i);
  const hid_t space = H5Screate_simple(dimensions, extents, NULL);
  const hid_t set = H5Dcreate2(file, name, H5T_IEEE_F64LE, space, links, properties, H5P_DEFAULT);
  check(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0, name);
  H5Sclose(space);
  return set;
}

static void attribute(hid_t object, const char* name, hid_t type, hsize_t count,
                      const void* value) {
  const hid_t space = count == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &count, NULL);
  const hid_t made = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  check(H5Awrite(made, type, value) >= 0, name);
  H5Aclose(made);
  H5Sclose(space);
}

static void write_told(int count) {
  const hid_t word = H5Tcopy(H5T_C_S1), text = H5Tcopy(H5T_C_S1);
  H5Tset_size(word, 8);
  H5Tset_size(text, H5T_VARIABLE);
  const hsize_t extents[2] = {4, 4};
  for (int n = 0; n < count; ++n) {
    char name[64], unit[8] = {0};
    snprintf(name, sizeof name, "told/%d", n);
    const hid_t set = write_dataset(name, n, 2, extents, H5P_DEFAULT);
    snprintf(unit, sizeof unit, "u%d", n % 1000);
    snprintf(name, sizeof name, "text %d%s", n, n % 3 == 0 ? " that is longer" : "");
    const char* const pointer = name;
    const double origin[3] = {n, 0.5, -n};
    attribute(set, "origin", H5T_NATIVE_DOUBLE, 3, origin);
    attribute(set, "rank", H5T_NATIVE_INT, 0, &n); /* a name that a table's rows have too */
    attribute(set, "unit", word, 0, unit);
    attribute(set, "long name", text, 0, &pointer);
    attribute(set, "differs", H5T_NATIVE_INT, 0, &rank);
    H5Dclose(set);
  }
  const hid_t group = H5Gopen2(file, "told", H5P_DEFAULT);
  attribute(group, "of the group", H5T_NATIVE_INT, 0, &count);
  H5Gclose(group);
  H5Tclose(word);
  H5Tclose(text);
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const int count = atoi(argv[1]);
  rank = rank_of_process();
  char path[4096], name[512];
  const char* const mark = strstr(argv[2], "{rank}");
  if (mark)
    snprintf(path, sizeof path, "%.*s%d%s", (int)(mark - argv[2]), argv[2], rank, mark + 6);
  else
    snprintf(path, sizeof path, "%s", argv[2]);
  file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  check(file >= 0, path);
  const hid_t chunks = H5Pcreate(H5P_DATASET_CREATE), gzip = H5Pcreate(H5P_DATASET_CREATE);
  const hsize_t sixteen = 16, forty = 40, twenty = 20;
  H5Pset_chunk(chunks, 1, &twenty);
  H5Pset_chunk(gzip, 1, &forty);
  H5Pset_deflate(gzip, 1);
  for (int n = 0; n < count; ++n) {
    snprintf(name, sizeof name, "same/ML_BSSN::gt%d it=0 rl=%d", n % 25, n / 25);
    H5Dclose(write_dataset(name, n, 1, &sixteen, H5P_DEFAULT));
    const hsize_t mixed[3] = {(hsize_t)(1 + (n + rank) % 4), 5, (hsize_t)(3 + n % 7)};
    snprintf(name, sizeof name, "mixed/%d", n);
    H5Dclose(write_dataset(name, n, 3, mixed, H5P_DEFAULT));
    snprintf(name, sizeof name, "own/of rank %c, number %d", 'a' + rank, n);
    H5Dclose(write_dataset(name, n, 1, &sixteen, H5P_DEFAULT));
    snprintf(name, sizeof name, "chunked/%d", n);
    H5Dclose(write_dataset(name, n, 1, &forty, chunks));
    snprintf(name, sizeof name, "gzip/%d", n);
    H5Dclose(write_dataset(name, n, 1, &forty, gzip));
    /* Half of these are called like one of another group. */
    snprintf(name, sizeof name, "names/%d/%s%0*d", n % 2,
             n % 4 < 2 ? "größe, Ж 変数 \\ \" ' " : "same ", n % 8 == 0 ? 180 : 1, n / 2);
    H5Dclose(write_dataset(name, n, 1, &sixteen, H5P_DEFAULT));
  }
  write_told(count);
  const hsize_t large = 256;
  for (int n = 0; n < 8; ++n) {
    snprintf(name, sizeof name, "few/%d", n);
    const hid_t set = write_dataset(name, n, 1, &large, H5P_DEFAULT);
    attribute(set, "kept", H5T_NATIVE_INT, 0, &n);
    H5Dclose(set);
  }
  H5Pclose(chunks);
  H5Pclose(gzip);
  return H5Fclose(file) < 0;
}
