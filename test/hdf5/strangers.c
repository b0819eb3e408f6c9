// SPDX-License-Identifier: BSD-3-Clause
// A process with one or several libhdf5 in it, however they came there: linked into the program
// (HDF5_LINKED_IN: it is "own") or loaded at run time. Each argument is one action:
//
//   load NAME local|global FILE     loads FILE by dlopen, known as NAME from then on
//   NAME create F | NAME read F     one file with one dataset of its own; read checks it
//   NAME fail F                     H5Fopen that must fail; HDF5 prints its error stack
//   NAME together F                 the same in this and the next library, in two threads at once
//   NAME nulls PLUGIN_PATH          finds the connector there and hands its callbacks null arguments
//   NAME dont_atexit now            that library does not end by itself at exit()
//   state                           prints how many descriptors and threads there are
//
// A failing action ends the program with status 1 and says which.
#include <dirent.h>
#include <dlfcn.h>
#include <hdf5.h>
// hdf5.h before this one: it expects its types.
#include <H5VLconnector.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_libraries = 8, most_words = 4, count = 20000 };

#define FUNCTIONS(X)                                                                             \
  X(H5open)                                                                                      \
  X(H5dont_atexit)                                                                               \
  X(H5Fcreate)                                                                                   \
  X(H5Fopen)                                                                                     \
  X(H5Fclose) X(H5Screate_simple) X(H5Sclose) X(H5Dcreate2) X(H5Dopen2) X(H5Dwrite) X(H5Dread)   \
      X(H5Dclose) X(H5PLappend) X(H5VLregister_connector_by_name) X(H5VLintrospect_get_conn_cls) \
          X(H5VLclose) X(H5free_memory)

struct library {
  const char* name;
  const hid_t* int_type;
#define DECLARE(f) __typeof__(&f) f;
  FUNCTIONS(DECLARE)
};
static struct library libraries[most_libraries];

static struct library* library_of(const char* name) {
  for (struct library* l = libraries; l != libraries + most_libraries; ++l)
    if (!l->name || !strcmp(l->name, name)) return l;
  exit(2);
}

static bool load(const char* name, const char* scope, const char* file) {
  struct library* l = library_of(name);
  void* handle = dlopen(file, RTLD_NOW | (strcmp(scope, "local") ? RTLD_GLOBAL : RTLD_LOCAL));
  if (!handle) {
    fprintf(stderr, "strangers: %s\n", dlerror());
    return false;
  }
  l->name = name;
  l->int_type = dlsym(handle, "H5T_NATIVE_INT_g");
#define FIND(f) *(void**)&l->f = dlsym(handle, #f);
  FUNCTIONS(FIND)
  return l->H5open != NULL;
}

static bool create(struct library* l, const char* path) {
  static int data[count];
  for (int i = 0; i < count; ++i) data[i] = 7 * i + path[0];
  const hsize_t extent = count;
  const hid_t file = l->H5Fcreate(path, 2U /* H5F_ACC_TRUNC, without its call of H5open */, 0, 0);
  const hid_t space = l->H5Screate_simple(1, &extent, NULL);
  const hid_t dataset = l->H5Dcreate2(file, "x", *l->int_type, space, 0, 0, 0);
  const bool written = dataset >= 0 && l->H5Dwrite(dataset, *l->int_type, 0, 0, 0, data) >= 0;
  return written && l->H5Dclose(dataset) >= 0 && l->H5Sclose(space) >= 0 && l->H5Fclose(file) >= 0;
}

static bool check(struct library* l, const char* path) {
  static int data[count];
  memset(data, 0, sizeof data);
  const hid_t file = l->H5Fopen(path, 0, 0);
  const hid_t dataset = file < 0 ? -1 : l->H5Dopen2(file, "x", 0);
  if (dataset < 0 || l->H5Dread(dataset, *l->int_type, 0, 0, 0, data) < 0) return false;
  for (int i = 0; i < count; ++i)
    if (data[i] != 7 * i + path[0]) return false;
  return l->H5Dclose(dataset) >= 0 && l->H5Fclose(file) >= 0;
}

struct attempt {
  struct library* library;
  const char* path;
};
static void* fail(void* attempt) {
  const struct attempt* a = attempt;
  return a->library->H5Fopen(a->path, 0, 0) < 0 ? attempt : NULL;
}

static bool together(struct library* l, const char* path) {
  struct attempt two[2] = {{l, path}, {l + 1, path}};
  pthread_t other;
  if (pthread_create(&other, NULL, fail, &two[1])) return false;
  void* here = fail(&two[0]);
  void* there = NULL;
  return !pthread_join(other, &there) && here && there;
}

static bool nulls(struct library* l, const char* plugins) {
  if (l->H5PLappend(plugins) < 0) return false;
  const hid_t id = l->H5VLregister_connector_by_name("mcr", 0);
  const H5VL_class_t* mcr = NULL;
  int any = 0, order = 1;
  uint64_t flags = 0;
  if (l->H5VLintrospect_get_conn_cls(&any, id, H5VL_GET_CONN_LVL_CURR, &mcr) < 0) return false;
  void* info = mcr->info_cls.copy(NULL);
  char* text = NULL;
  bool fine = !info && mcr->info_cls.cmp(&order, NULL, NULL) >= 0 && order == 0 &&
              mcr->info_cls.to_str(NULL, &text) >= 0 && text && mcr->info_cls.free(NULL) >= 0 &&
              mcr->info_cls.from_str(NULL, &info) >= 0 && mcr->info_cls.free(info) >= 0 &&
              mcr->introspect_cls.get_cap_flags(NULL, &flags) >= 0 && flags;
  l->H5free_memory(text);
  bool accessible = true;
  H5VL_file_specific_args_t ask = {.op_type = H5VL_FILE_IS_ACCESSIBLE};
  ask.args.is_accessible.accessible = &accessible;
  fine = fine && mcr->file_cls.specific(NULL, &ask, 0, NULL) >= 0 && !accessible;
  return l->H5VLclose(id) >= 0 && fine;
}

static int entries(const char* path) {
  int found = 0;
  DIR* directory = opendir(path);
  while (directory && readdir(directory)) ++found;
  if (directory) closedir(directory);
  return found;
}

static bool act(char** word, int words) {
  if (words == 1 && !strcmp(word[0], "state"))
    return printf("%d descriptors, %d threads\n", entries("/proc/self/fd"),
                  entries("/proc/self/task")) > 0;
  if (words == 4 && !strcmp(word[0], "load")) return load(word[1], word[2], word[3]);
  if (words != 3) exit(2);
  struct library* l = library_of(word[0]);
  if (!l->name) return false;
  if (!strcmp(word[1], "dont_atexit")) return l->H5dont_atexit() >= 0;
  l->H5open();  // makes *int_type; fails in HDF5 1.14 where the connector was not found
  if (!strcmp(word[1], "create")) return create(l, word[2]);
  if (!strcmp(word[1], "read")) return check(l, word[2]);
  if (!strcmp(word[1], "nulls")) return nulls(l, word[2]);
  if (!strcmp(word[1], "together")) return together(l, word[2]);
  struct attempt one = {l, word[2]};
  return !strcmp(word[1], "fail") && fail(&one);
}

int main(int argc, char** argv) {
#ifdef HDF5_LINKED_IN
  libraries[0].name = "own";
  libraries[0].int_type = &H5T_NATIVE_INT_g;
#define TAKE(f) libraries[0].f = &f;
  FUNCTIONS(TAKE)
#endif
  for (int i = 1; i < argc; ++i) {
    char* word[most_words];
    int words = 0;
    char* text = strdup(argv[i]);
    for (char* w = strtok(text, " "); w && words < most_words; w = strtok(NULL, " "))
      word[words++] = w;
    if (!act(word, words)) {
      fprintf(stderr, "strangers: failed: %s\n", argv[i]);
      return 1;
    }
    fflush(stdout);
  }
  return 0;
}
