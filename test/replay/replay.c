// SPDX-License-Identifier: BSD-3-Clause
// Writes existing rank files once more with HDF5 calls, as the program that made them did: groups,
// datasets, types, attributes, links and creation properties. Run natively and with a connector,
// its outputs can be compared byte for byte (with the time fixed, since HDF5 records object times).
//
//   mpiexec -n RANKS replay OUT FILE…        rank r rewrites the r-th file as OUT/<its name>
//   replay --rank R --ranks N OUT FILE…      one rank alone, as a launcher would start it
//   replay --ranks 1 OUT FILE…               all files, one after another
#include <errno.h>
#include <getopt.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static hid_t must(hid_t result, const char* what, const char* name) {
  if (result >= 0) return result;
  fprintf(stderr, "replay: %s failed: %s\n", what, name);
  exit(1);
}

// An object with several links is written once; later links become hard links to it.
struct seen {
  H5O_token_t token;
  char* path;
};
struct copy {
  hid_t from, to;
  struct seen* objects;
  size_t count;
};

// References point to places in the file that they were read from: copying their bytes would be
// wrong.
static void refuse_references(hid_t type, const char* name) {
  if (H5Tdetect_class(type, H5T_REFERENCE) <= 0) return;
  fprintf(stderr, "replay: %s holds references, which cannot be replayed\n", name);
  exit(1);
}

static size_t elements(hid_t space) {
  const hssize_t count =
      H5Sget_simple_extent_type(space) == H5S_NULL ? 0 : H5Sget_simple_extent_npoints(space);
  return count > 0 ? (size_t)count : 0;
}

// Memory type: the file's own, so that no value is converted; variable-length data needs the native
// one.
static hid_t memory_type(hid_t type) {
  const int variable = H5Tdetect_class(type, H5T_VLEN) > 0 || H5Tis_variable_str(type) > 0 ||
                       H5Tdetect_class(type, H5T_STRING) > 0;
  return variable ? H5Tget_native_type(type, H5T_DIR_ASCEND) : H5Tcopy(type);
}

static herr_t copy_attribute(hid_t from, const char* name, const H5A_info_t* info, void* to) {
  (void)info;
  const hid_t source = must(H5Aopen(from, name, H5P_DEFAULT), "H5Aopen", name);
  const hid_t type = must(H5Aget_type(source), "H5Aget_type", name),
              space = must(H5Aget_space(source), "H5Aget_space", name);
  const hid_t properties = must(H5Aget_create_plist(source), "H5Aget_create_plist", name);
  refuse_references(type, name);
  const hid_t target =
      must(H5Acreate2(*(hid_t*)to, name, type, space, properties, H5P_DEFAULT), "H5Acreate2", name);
  const hid_t memory = must(memory_type(type), "memory type", name);
  const size_t count = elements(space);
  if (count) {
    void* data = calloc(count, H5Tget_size(memory));
    must(H5Aread(source, memory, data), "H5Aread", name);
    must(H5Awrite(target, memory, data), "H5Awrite", name);
    H5Treclaim(memory, space, H5P_DEFAULT, data);
    free(data);
  }
  H5Tclose(memory);
  H5Aclose(target);
  H5Pclose(properties);
  H5Sclose(space);
  H5Tclose(type);
  H5Aclose(source);
  return 0;
}

static void copy_attributes(hid_t from, hid_t to, const char* name) {
  hsize_t index = 0;
  must(H5Aiterate2(from, H5_INDEX_NAME, H5_ITER_INC, &index, copy_attribute, &to), "attributes",
       name);
}

static void copy_dataset(hid_t source, hid_t parent, const char* name) {
  const hid_t type = must(H5Dget_type(source), "H5Dget_type", name),
              space = must(H5Dget_space(source), "H5Dget_space", name);
  const hid_t properties = must(H5Dget_create_plist(source), "H5Dget_create_plist", name);
  refuse_references(type, name);
  const hid_t plain =
      must(H5Tcopy(type), "H5Tcopy", name);  // a committed type becomes its plain copy
  const hid_t target =
      must(H5Dcreate2(parent, name, plain, space, H5P_DEFAULT, properties, H5P_DEFAULT),
           "H5Dcreate2", name);
  const hid_t memory = must(memory_type(type), "memory type", name);
  const size_t count = elements(space);
  if (count && H5Dget_storage_size(source) > 0) {
    void* data = calloc(count, H5Tget_size(memory));
    if (!data) must(-1, "memory for", name);
    must(H5Dread(source, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, data), "H5Dread", name);
    must(H5Dwrite(target, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, data), "H5Dwrite", name);
    H5Treclaim(memory, space, H5P_DEFAULT, data);
    free(data);
  }
  copy_attributes(source, target, name);
  H5Tclose(memory);
  H5Dclose(target);
  H5Tclose(plain);
  H5Pclose(properties);
  H5Sclose(space);
  H5Tclose(type);
}

static int already_there(struct copy* copy, const char* path, const char* name) {
  H5O_info2_t info;
  must(H5Oget_info_by_name3(copy->from, path, &info, H5O_INFO_BASIC, H5P_DEFAULT),
       "H5Oget_info_by_name3", path);
  for (size_t i = 0; i < copy->count; ++i) {
    int order = 1;
    H5Otoken_cmp(copy->from, &info.token, &copy->objects[i].token, &order);
    if (order == 0) {
      must(
          H5Lcreate_hard(copy->to, copy->objects[i].path, copy->to, path, H5P_DEFAULT, H5P_DEFAULT),
          "H5Lcreate_hard", name);
      return 1;
    }
  }
  copy->objects = realloc(copy->objects, (copy->count + 1) * sizeof *copy->objects);
  copy->objects[copy->count++] = (struct seen){info.token, strdup(path)};
  return 0;
}

static herr_t copy_link(hid_t group, const char* path, const H5L_info2_t* link, void* data) {
  (void)group;
  struct copy* copy = data;
  if (link->type == H5L_TYPE_SOFT || link->type == H5L_TYPE_EXTERNAL) {
    char* value = calloc(link->u.val_size + 1, 1);
    must(H5Lget_val(copy->from, path, value, link->u.val_size, H5P_DEFAULT), "H5Lget_val", path);
    if (link->type == H5L_TYPE_SOFT) {
      must(H5Lcreate_soft(value, copy->to, path, H5P_DEFAULT, H5P_DEFAULT), "H5Lcreate_soft", path);
    } else {
      const char *file, *object;
      must(H5Lunpack_elink_val(value, link->u.val_size, NULL, &file, &object),
           "H5Lunpack_elink_val", path);
      must(H5Lcreate_external(file, object, copy->to, path, H5P_DEFAULT, H5P_DEFAULT),
           "H5Lcreate_external", path);
    }
    free(value);
    return 0;
  }
  if (already_there(copy, path, path)) return 0;
  const hid_t source = must(H5Oopen(copy->from, path, H5P_DEFAULT), "H5Oopen", path);
  switch (H5Iget_type(source)) {
    case H5I_GROUP: {
      const hid_t properties = must(H5Gget_create_plist(source), "H5Gget_create_plist", path);
      const hid_t target = must(H5Gcreate2(copy->to, path, H5P_DEFAULT, properties, H5P_DEFAULT),
                                "H5Gcreate2", path);
      copy_attributes(source, target, path);
      H5Gclose(target);
      H5Pclose(properties);
      break;
    }
    case H5I_DATASET:
      copy_dataset(source, copy->to, path);
      break;
    case H5I_DATATYPE: {
      const hid_t type = must(H5Tcopy(source), "H5Tcopy", path);
      must(H5Tcommit2(copy->to, path, type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), "H5Tcommit2",
           path);
      copy_attributes(source, type, path);
      H5Tclose(type);
      break;
    }
    default:
      must(-1, "unknown kind of object", path);
  }
  H5Oclose(source);
  return 0;
}

static void copy_file(const char* from, const char* out) {
  char to[4096];
  const char* slash = strrchr(from, '/');
  snprintf(to, sizeof to, "%s/%s", out, slash ? slash + 1 : from);
  struct copy copy = {.from = must(H5Fopen(from, H5F_ACC_RDONLY, H5P_DEFAULT), "H5Fopen", from)};
  const hid_t properties = must(H5Fget_create_plist(copy.from), "H5Fget_create_plist", from);
  copy.to = must(H5Fcreate(to, H5F_ACC_TRUNC, properties, H5P_DEFAULT), "H5Fcreate", to);
  already_there(&copy, "/", from);
  copy_attributes(copy.from, copy.to, "/");
  must(H5Lvisit2(copy.from, H5_INDEX_NAME, H5_ITER_INC, copy_link, &copy), "H5Lvisit2", from);
  H5Pclose(properties);
  must(H5Fclose(copy.to), "H5Fclose", to);
  must(H5Fclose(copy.from), "H5Fclose", from);
  for (size_t i = 0; i < copy.count; ++i) free(copy.objects[i].path);
  free(copy.objects);
}

static long number_from_launcher(const char* const* names) {
  for (; *names; ++names)
    if (getenv(*names)) return strtol(getenv(*names), NULL, 10);
  return -1;
}

int main(int count, char** words) {
  static const char* const rank_names[] = {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK",
                                           "SLURM_PROCID", NULL};
  static const char* const size_names[] = {"PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS",
                                           NULL};
  static const struct option options[] = {
      {"rank", required_argument, 0, 'r'}, {"ranks", required_argument, 0, 'n'}, {0, 0, 0, 0}};
  long rank = number_from_launcher(rank_names), ranks = number_from_launcher(size_names);
  for (int letter; (letter = getopt_long(count, words, "", options, NULL)) != -1;) {
    if (letter == 'r') rank = strtol(optarg, NULL, 10);
    if (letter == 'n') ranks = strtol(optarg, NULL, 10);
    if (letter == '?') return 2;
  }
  const int files = count - optind - 1;
  if (files < 1) {
    fprintf(stderr, "usage: replay [--rank R] [--ranks N] OUT FILE…\n");
    return 2;
  }
  const char* out = words[optind];
  if (mkdir(out, 0777) && errno != EEXIST) {
    fprintf(stderr, "replay: cannot make %s: %s\n", out, strerror(errno));
    return 1;
  }
  for (int i = 0; i < files; ++i)
    if (ranks <= 1 || i % ranks == rank) copy_file(words[optind + 1 + i], out);
  return 0;
}
