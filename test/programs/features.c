// SPDX-License-Identifier: BSD-3-Clause
// Writes files that together use all features of HDF5: types, layouts, filters, links, attributes,
// file formats, and space that was used and freed.
//
//   features                  the names of the features
//   features SEED [NAME…]     writes NAME.SEED.h5 for each (all without names); SEED changes values
//   and sizes a little
#include <hdf5.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most = 40000 };

static int seed;
static double numbers[most];
static unsigned char bytes[most * 8];

static void must(bool fine, const char* what) {
  if (fine) return;
  fprintf(stderr, "features: %s failed\n", what);
  exit(1);
}

/// Creates a dataset and fills it from `data`, which is of its type.
static hid_t made(hid_t at, const char* name, hid_t type, hid_t space, hid_t list,
                  const void* data) {
  const hid_t set = H5Dcreate2(at, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
  must(set >= 0, name);
  must(!data || H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0, name);
  return set;
}

static void put(hid_t at, const char* name, hid_t type, hid_t space, hid_t list, const void* data) {
  H5Dclose(made(at, name, type, space, list, data));
}

static hid_t line(hsize_t count) { return H5Screate_simple(1, &count, NULL); }

static void attribute(hid_t at, const char* name, hid_t type, hid_t space, const void* data) {
  const hid_t made_one = H5Acreate2(at, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  must(made_one >= 0 && H5Awrite(made_one, type, data) >= 0, name);
  H5Aclose(made_one);
}

// --- what files hold ----------------------------------------------------------------------------

static void atomic_types(hid_t file) {
  const struct {
    const char* name;
    hid_t type;
  } all[] = {{"i8", H5T_STD_I8LE},      {"u8", H5T_STD_U8LE},      {"i16be", H5T_STD_I16BE},
             {"u16", H5T_STD_U16LE},    {"i32be", H5T_STD_I32BE},  {"u32", H5T_STD_U32LE},
             {"i64", H5T_STD_I64LE},    {"u64be", H5T_STD_U64BE},  {"f32", H5T_IEEE_F32LE},
             {"f32be", H5T_IEEE_F32BE}, {"f64be", H5T_IEEE_F64BE}, {"long", H5T_NATIVE_LDOUBLE},
             {"bits8", H5T_STD_B8LE},   {"bits64", H5T_STD_B64BE}};
  const hid_t space = line(3000);
  for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
    put(file, all[i].name, all[i].type, space, H5P_DEFAULT, bytes);
  const hid_t odd = H5Tcopy(H5T_STD_I32LE);  // 17 bits in four bytes
  H5Tset_precision(odd, 17);
  H5Tset_offset(odd, 3);
  put(file, "odd", odd, space, H5P_DEFAULT, bytes);
  put(file, "doubles", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, numbers);
}

static void composed_types(hid_t file) {
  typedef struct {
    double x[3];
    int id;
    char name[10];
  } Particle;
  static Particle particles[500];
  for (int i = 0; i < 500; ++i) {
    particles[i].x[0] = numbers[i];
    particles[i].id = i * seed;
    snprintf(particles[i].name, sizeof particles[i].name, "p%hu", (unsigned short)i);
  }
  const hsize_t three = 3;
  const hid_t array = H5Tarray_create2(H5T_NATIVE_DOUBLE, 1, &three), text = H5Tcopy(H5T_C_S1),
              compound = H5Tcreate(H5T_COMPOUND, sizeof(Particle)),
              opaque = H5Tcreate(H5T_OPAQUE, 13), choice = H5Tenum_create(H5T_NATIVE_INT);
  H5Tset_size(text, 10);
  H5Tinsert(compound, "x", offsetof(Particle, x), array);
  H5Tinsert(compound, "id", offsetof(Particle, id), H5T_NATIVE_INT);
  H5Tinsert(compound, "name", offsetof(Particle, name), text);
  H5Tset_tag(opaque, "thirteen");
  for (int i = 0; i < 5; ++i)
    H5Tenum_insert(choice, (const char*[]){"a", "b", "c", "d", "e"}[i], &i);
  H5Tcommit2(file, "particle", compound, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t space = line(500);
  put(file, "particles", compound, space, H5P_DEFAULT, particles);
  put(file, "opaque", opaque, space, H5P_DEFAULT, bytes);
  put(file, "vectors", array, space, H5P_DEFAULT, numbers);
  int choices[500];
  for (int i = 0; i < 500; ++i) choices[i] = (i * i + seed) % 5;
  put(file, "choices", choice, space, H5P_DEFAULT, choices);
  attribute(file, "first", compound, line(1), particles);
}

static void variable_length(hid_t file) {
  static char texts[200][24];
  static char* pointers[200];
  static hvl_t rows[200];
  for (int i = 0; i < 200; ++i) {
    snprintf(texts[i], sizeof texts[i], "text %d of %d", i, seed);
    pointers[i] = texts[i];
    rows[i] = (hvl_t){(size_t)((i + seed) % 17), numbers + i};
  }
  const hid_t text = H5Tcopy(H5T_C_S1), row = H5Tvlen_create(H5T_NATIVE_DOUBLE);
  H5Tset_size(text, H5T_VARIABLE);
  put(file, "texts", text, line(200), H5P_DEFAULT, pointers);
  put(file, "rows", row, line(200), H5P_DEFAULT, rows);
  attribute(file, "title", text, H5Screate(H5S_SCALAR), pointers);
  put(file, "target", H5T_NATIVE_DOUBLE, line(100), H5P_DEFAULT, numbers);
  hobj_ref_t objects[2];
  hdset_reg_ref_t region;
  const hid_t part = line(100);
  const hsize_t begin = 10, count = 20;
  H5Sselect_hyperslab(part, H5S_SELECT_SET, &begin, NULL, &count, NULL);
  must(H5Rcreate(&objects[0], file, "target", H5R_OBJECT, -1) >= 0, "reference");
  must(H5Rcreate(&objects[1], file, "rows", H5R_OBJECT, -1) >= 0, "reference");
  must(H5Rcreate(&region, file, "target", H5R_DATASET_REGION, part) >= 0, "region");
  put(file, "objects", H5T_STD_REF_OBJ, line(2), H5P_DEFAULT, objects);
  put(file, "region", H5T_STD_REF_DSETREG, line(1), H5P_DEFAULT, &region);
}

static void shapes(hid_t file) {
  const hsize_t none[2] = {0, 5}, cube[3] = {17, 9, 11};
  put(file, "scalar", H5T_NATIVE_DOUBLE, H5Screate(H5S_SCALAR), H5P_DEFAULT, numbers);
  put(file, "null", H5T_NATIVE_DOUBLE, H5Screate(H5S_NULL), H5P_DEFAULT, NULL);
  put(file, "nothing", H5T_NATIVE_INT, H5Screate_simple(2, none, NULL), H5P_DEFAULT, NULL);
  put(file, "cube", H5T_NATIVE_FLOAT, H5Screate_simple(3, cube, NULL), H5P_DEFAULT, bytes);
  put(file, "unlike", H5T_NATIVE_INT, line((hsize_t)(1000 + 137 * seed)), H5P_DEFAULT, bytes);
  if (seed % 2) put(file, "odd_ranks_only", H5T_NATIVE_INT, line(700), H5P_DEFAULT, bytes);
  char name[32];
  for (int i = 0; i < 300; ++i) {
    snprintf(name, sizeof name, "small_%d", i);
    put(file, name, H5T_NATIVE_INT, line((hsize_t)(1 + i % 30)), H5P_DEFAULT, bytes + i);
  }
}

static void layouts(hid_t file) {
  const hsize_t size[2] = {60, 70}, chunk[2] = {16, 16}, grows[2] = {H5S_UNLIMITED, 70},
                both[2] = {H5S_UNLIMITED, H5S_UNLIMITED};
  const hid_t compact = H5Pcreate(H5P_DATASET_CREATE), chunked = H5Pcreate(H5P_DATASET_CREATE),
              one = H5Pcreate(H5P_DATASET_CREATE), early = H5Pcreate(H5P_DATASET_CREATE),
              late = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_layout(compact, H5D_COMPACT);
  H5Pset_chunk(chunked, 2, chunk);
  H5Pset_chunk(one, 2, size);
  H5Pset_alloc_time(early, H5D_ALLOC_TIME_EARLY);
  H5Pset_fill_time(early, H5D_FILL_TIME_NEVER);
  H5Pset_alloc_time(late, H5D_ALLOC_TIME_LATE);
  const int filler = 77;
  H5Pset_fill_value(late, H5T_NATIVE_INT, &filler);
  put(file, "compact", H5T_NATIVE_INT, line(2000), compact, bytes);
  put(file, "fixed_array", H5T_NATIVE_DOUBLE, H5Screate_simple(2, size, NULL), chunked, numbers);
  put(file, "extensible", H5T_NATIVE_DOUBLE, H5Screate_simple(2, size, grows), chunked, numbers);
  put(file, "tree", H5T_NATIVE_DOUBLE, H5Screate_simple(2, size, both), chunked, numbers);
  put(file, "one_chunk", H5T_NATIVE_DOUBLE, H5Screate_simple(2, size, NULL), one, numbers);
  put(file, "never_written", H5T_NATIVE_INT, line(5000), H5P_DEFAULT, NULL);
  put(file, "filled", H5T_NATIVE_INT, line(5000), late, NULL);
  // Allocated, and written only in some places: the bytes that HDF5 did not write must come back as
  // zeros.
  const hid_t set = made(file, "gaps", H5T_NATIVE_INT, line(30000), early, NULL),
              space = line(30000), memory = line(1000);
  for (hsize_t begin = 0; begin < 30000; begin += 7000) {
    const hsize_t count = 1000;
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &begin, NULL, &count, NULL);
    must(H5Dwrite(set, H5T_NATIVE_INT, memory, space, H5P_DEFAULT, bytes) >= 0, "gaps");
  }
  const hid_t few =
      made(file, "few_chunks", H5T_NATIVE_DOUBLE, H5Screate_simple(2, size, both), chunked, NULL);
  const hid_t plane = H5Screate_simple(2, size, NULL);
  const hsize_t at[2] = {20, 20}, box[2] = {10, 30};
  H5Sselect_hyperslab(plane, H5S_SELECT_SET, at, NULL, box, NULL);
  must(H5Dwrite(few, H5T_NATIVE_DOUBLE, plane, plane, H5P_DEFAULT, numbers) >= 0, "few_chunks");
  H5Dclose(set);
  H5Dclose(few);
}

static void filters(hid_t file) {
  const hsize_t chunk = 1000;
  for (int which = 0; which < 8; ++which) {
    const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(list, 1, &chunk);
    const char* name = "";
    hid_t type = H5T_NATIVE_INT;
    switch (which) {
      case 0:
        name = "gzip";
        H5Pset_deflate(list, 4);
        break;
      case 1:
        name = "shuffle_gzip";
        H5Pset_shuffle(list);
        H5Pset_deflate(list, 9);
        break;
      case 2:
        name = "fletcher";
        H5Pset_fletcher32(list);
        break;
      case 3:
        name = "nbit";
        type = H5Tcopy(type);
        H5Tset_precision(type, 20);
        H5Pset_nbit(list);
        break;
      case 4:
        name = "scaled";
        H5Pset_scaleoffset(list, H5Z_SO_INT, 0);
        break;
      case 5:
        name = "all";
        H5Pset_shuffle(list);
        H5Pset_deflate(list, 1);
        H5Pset_fletcher32(list);
        break;
      case 6:
        name = "shuffled";
        H5Pset_shuffle(list);
        break;
      default:
        name = "only_chunks";
        break;
    }
    put(file, name, type, line(9500), list, bytes);
    H5Pclose(list);
  }
}

static void links_and_attributes(hid_t file) {
  char name[40];
  const hid_t ordered = H5Pcreate(H5P_GROUP_CREATE);
  H5Pset_link_creation_order(ordered, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
  const hid_t deep = H5Gcreate2(file, "a", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
              group = H5Gcreate2(deep, "b", H5P_DEFAULT, ordered, H5P_DEFAULT);
  put(group, "x", H5T_NATIVE_DOUBLE, line(2000), H5P_DEFAULT, numbers);
  must(H5Lcreate_hard(group, "x", file, "same", H5P_DEFAULT, H5P_DEFAULT) >= 0, "hard link");
  must(H5Lcreate_soft("/a/b/x", file, "soft", H5P_DEFAULT, H5P_DEFAULT) >= 0, "soft link");
  must(H5Lcreate_soft("/nowhere", file, "dangling", H5P_DEFAULT, H5P_DEFAULT) >= 0, "soft link");
  must(H5Lcreate_external("other.h5", "/x", file, "outside", H5P_DEFAULT, H5P_DEFAULT) >= 0,
       "external link");
  for (int i = 0; i < 100; ++i) {
    snprintf(name, sizeof name, "attribute %d", i);
    attribute(group, name, H5T_NATIVE_DOUBLE, line(5), numbers + i);
    snprintf(name, sizeof name, "group %d", i);
    H5Gclose(H5Gcreate2(group, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  }
  attribute(group, "long one", H5T_NATIVE_DOUBLE, line(5000),
            numbers);  // larger than an object header may be
  H5Oset_comment(group, "a comment");
  H5Gclose(group);
  H5Gclose(deep);
}

static void deleted_and_grown(hid_t file) {
  char name[32];
  for (int i = 0; i < 20; ++i) {
    snprintf(name, sizeof name, "d%d", i);
    put(file, name, H5T_NATIVE_DOUBLE, line(1000), H5P_DEFAULT, numbers);
  }
  H5Fflush(file, H5F_SCOPE_GLOBAL);
  for (int i = 0; i < 20; i += 2) {
    snprintf(name, sizeof name, "d%d", i);
    must(H5Ldelete(file, name, H5P_DEFAULT) >= 0, "delete");
  }
  put(file, "in_a_hole", H5T_NATIVE_INT, line(700), H5P_DEFAULT, bytes);
  const hsize_t begin = 100, chunk = 64, endless = H5S_UNLIMITED, longer = 5000, shorter = 900;
  const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(list, 1, &chunk);
  const hid_t set =
      made(file, "grown", H5T_NATIVE_INT, H5Screate_simple(1, &begin, &endless), list, bytes);
  must(H5Dset_extent(set, &longer) >= 0, "extent");
  must(H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes) >= 0, "grown");
  must(H5Dset_extent(set, &shorter) >= 0, "extent");
  H5Dclose(set);
  H5Pclose(list);
}

static void everything(hid_t file) {
  atomic_types(file);
  filters(file);
  deleted_and_grown(file);
  put(file, "more", H5T_NATIVE_DOUBLE, line(most), H5P_DEFAULT, numbers);
}

// --- how files are made -------------------------------------------------------------------------

enum Way { plainly, latest, middle, paged, aggregated, strong };

static const struct {
  const char* name;
  void (*write)(hid_t file);
  enum Way way;
} features[] = {
    {"atomic", atomic_types, plainly},
    {"composed", composed_types, plainly},
    {"variable", variable_length, plainly},
    {"shapes", shapes, plainly},
    {"layouts", layouts, plainly},
    {"filters", filters, plainly},
    {"links", links_and_attributes, plainly},
    {"deleted", deleted_and_grown, plainly},
    {"layouts-latest", layouts, latest},
    {"filters-latest", filters, latest},
    {"links-latest", links_and_attributes, latest},
    {"variable-latest", variable_length, latest},
    {"shapes-v110", shapes, middle},
    {"paged", everything, paged},
    {"deleted-persistent", deleted_and_grown, aggregated},
    {"strong-close", everything, strong},
};

static void write_file(size_t which) {
  const hid_t creation = H5Pcreate(H5P_FILE_CREATE), access_list = H5Pcreate(H5P_FILE_ACCESS);
  switch (features[which].way) {
    case plainly:
      break;
    case latest:
      H5Pset_libver_bounds(access_list, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
      break;
    case middle:
      H5Pset_libver_bounds(access_list, H5F_LIBVER_V18, H5F_LIBVER_V110);
      break;
    case paged:
      H5Pset_file_space_strategy(creation, H5F_FSPACE_STRATEGY_PAGE, true, 1);
      break;
    case aggregated:
      H5Pset_file_space_strategy(creation, H5F_FSPACE_STRATEGY_FSM_AGGR, true, 1);
      break;
    case strong:
      H5Pset_fclose_degree(access_list, H5F_CLOSE_STRONG);
      H5Pset_sizes(creation, 4, 4);
      H5Pset_alignment(access_list, 1000, 512);
      break;
  }
  char path[200];
  snprintf(path, sizeof path, "%s.%d.h5", features[which].name, seed);
  const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, creation, access_list);
  must(file >= 0, path);
  features[which].write(file);
  must(H5Fclose(file) >= 0, path);
}

static const char* rank(void) {
  static const char* const names[] = {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
    if (getenv(names[i])) return getenv(names[i]);
  return "0";
}

int main(int count, char** arguments) {
  const size_t all = sizeof features / sizeof *features;
  if (count < 2) {
    for (size_t i = 0; i < all; ++i) puts(features[i].name);
    return 0;
  }
  seed = atoi(strcmp(arguments[1], "rank") ? arguments[1] : rank());
  for (size_t i = 0; i < most; ++i) {
    numbers[i] = (double)((i * i) % 9973) * 0.001 + seed;
    memcpy(bytes + 8 * i, &(unsigned){(unsigned)(i * 37 + i / 50 * (unsigned)(seed + 3))}, 4);
  }
  for (size_t i = 0; i < all; ++i) {
    bool wanted = count == 2;
    for (int j = 2; j < count; ++j) wanted |= !strcmp(arguments[j], features[i].name);
    if (wanted) write_file(i);
  }
  return 0;
}
