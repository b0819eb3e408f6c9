// SPDX-License-Identifier: BSD-3-Clause
// What a program does with files without HDF5: names, links, modes.
#include <hdf5.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "habits.h"

static void exclusive(void) {
  simple_file("exclusive.h5", 1);
  say("exclusive over it", H5Fcreate("exclusive.h5", H5F_ACC_EXCL, H5P_DEFAULT, H5P_DEFAULT));
  say("exclusive elsewhere",
      H5Fclose(H5Fcreate("other.h5", H5F_ACC_EXCL, H5P_DEFAULT, H5P_DEFAULT)));
  say("in no directory", create("nowhere/x.h5"));
  say("over a directory", create("."));
  say("open what is not there", H5Fopen("none.h5", H5F_ACC_RDONLY, H5P_DEFAULT));
  FILE* text = fopen("text.h5", "w");
  fputs("this is no HDF5 file, and long enough to be looked at by everybody who wonders\n", text);
  fclose(text);
  say("open what is no HDF5", H5Fopen("text.h5", H5F_ACC_RDONLY, H5P_DEFAULT));
  say("create over it", H5Fclose(create("text.h5")));
  say_number("is HDF5", H5Fis_accessible("exclusive.h5", H5P_DEFAULT));
  say_number("is not there", H5Fis_accessible("none.h5", H5P_DEFAULT) < 0);
}

static void names(void) {
  simple_file("tmp.h5", 1);
  say("rename", rename("tmp.h5", "step1.h5"));
  simple_file("tmp.h5", 2);
  say("rename", rename("tmp.h5", "step2.h5"));
  say("unlink", unlink("step1.h5"));
  say_number("sum", sum_in("step2.h5", "x"));
  mkdir("directory", 0777);
  say("symlink", symlink("directory/target.h5", "link.h5"));
  simple_file("link.h5", 3);
  say_number("through the link", sum_in("directory/target.h5", "x"));
  simple_file("link.h5", 4);
  say_number("through the link", sum_in("directory/target.h5", "x"));
  say("link", link("step2.h5", "hard.h5"));
  say_number("hard link", sum_in("hard.h5", "x"));
  simple_file("step2.h5", 6);
  say_number("hard link after the other name was overwritten", sum_in("hard.h5", "x"));
  say("chdir", chdir("directory"));
  simple_file("relative.h5", 7);
  simple_file("../upward.h5", 8);
  say("chdir", chdir(".."));
  say_number("sum", sum_in("directory/relative.h5", "x") + sum_in("upward.h5", "x"));
  // Renamed and removed while open.
  hid_t file = create("moving.h5");
  put(file, "x", 1000, 1);
  say("rename while open", rename("moving.h5", "moved.h5"));
  say("close", H5Fclose(file));
  say_number("sum", sum_in("moved.h5", "x"));
  say_number("old name", access("moving.h5", F_OK));
  file = create("going.h5");
  put(file, "x", 1000, 1);
  say("unlink while open", unlink("going.h5"));
  say("close", H5Fclose(file));
  say_number("is there", access("going.h5", F_OK));
  // Renamed while it is being overwritten.
  simple_file("old.h5", 1);
  file = create("old.h5");
  put(file, "x", 1000, 2);
  say("rename while overwritten", rename("old.h5", "renamed.h5"));
  say("close", H5Fclose(file));
  say_number("sum", sum_in("renamed.h5", "x"));
  say_number("old name", access("old.h5", F_OK));
  say("delete", H5Fdelete("renamed.h5", H5P_DEFAULT));
  say_number("is there", access("renamed.h5", F_OK));
  simple_file("name with blanks \303\244\303\266.h5", 3);
}

static void links(void) {
  simple_file("part.h5", 1);
  hid_t file = create("master.h5");
  say("external", H5Lcreate_external("part.h5", "/x", file, "ext", H5P_DEFAULT, H5P_DEFAULT));
  say_number("sum", sum(file, "ext"));
  say("close", H5Fclose(file));
  say_number("sum", sum_in("master.h5", "ext"));
  mkdir("below", 0777);
  symlink("below/inner.h5", "symbolic.h5");
  file = create("symbolic.h5");
  simple_file("below/part.h5", 4);
  say("external", H5Lcreate_external("part.h5", "/x", file, "ext", H5P_DEFAULT, H5P_DEFAULT));
  say("close", H5Fclose(file));
  say_number("sum through a symbolic link", sum_in("symbolic.h5", "ext"));
  say_number("sum below", sum_in("below/inner.h5", "ext"));
  // A virtual dataset over both.
  const hsize_t total = 2000, count = 1000, zero = 0, first = 0, second = 1000;
  const hid_t space = H5Screate_simple(1, &total, NULL), source = H5Screate_simple(1, &count, NULL);
  const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, &first, NULL, &count, NULL);
  H5Pset_virtual(list, space, "part.h5", "x", source);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, &second, NULL, &count, NULL);
  H5Pset_virtual(list, space, "below/part.h5", "x", source);
  (void)zero;
  H5Sselect_all(space);
  file = create("virtual.h5");
  const hid_t set = H5Dcreate2(file, "v", H5T_NATIVE_INT, space, H5P_DEFAULT, list, H5P_DEFAULT);
  say("virtual", set);
  say("close", H5Dclose(set));
  say("close", H5Fclose(file));
  say_number("sum", sum_in("virtual.h5", "v"));
}

// The native_* files were written before, by test/programs/habits-look-as-natively (mixed_before).
static void mixed(void) {
  say_number("native master", sum_in("native_master.h5", "ext"));
  hid_t file = create("captured_part.h5");
  say("put", put(file, "x", 1000, 3));
  say("close", H5Fclose(file));
  say_number("native master of a captured part", sum_in("native_master.h5", "captured"));
  say_number("native virtual master", sum_in("native_master.h5", "virtual"));
  file = create("captured_master.h5");
  H5Lcreate_external("native_part.h5", "/x", file, "native", H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_external("captured_part.h5", "/x", file, "captured", H5P_DEFAULT, H5P_DEFAULT);
  say_number("captured master of a native part", sum(file, "native"));
  say("close", H5Fclose(file));
  say_number("captured master of a native part", sum_in("captured_master.h5", "native"));
  say_number("captured master of a captured part", sum_in("captured_master.h5", "captured"));
  file = H5Fopen("captured_master.h5", H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t set = H5Dopen2(file, "native", H5P_DEFAULT);
  say("write through a link", write_set(set, 1000, 9));
  H5Dclose(set);
  say("close", H5Fclose(file));
  say_number("written through it", sum_in("native_part.h5", "x"));
}

// Run natively before `mixed`.
void mixed_before(void) {
  simple_file("native_part.h5", 1);
  const hid_t file = create("native_master.h5");
  H5Lcreate_external("native_part.h5", "/x", file, "ext", H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_external("captured_part.h5", "/x", file, "captured", H5P_DEFAULT, H5P_DEFAULT);
  const hsize_t total = 2000, count = 1000, begins[] = {0, 1000};
  const char* const parts[] = {"native_part.h5", "captured_part.h5"};
  const hid_t space = H5Screate_simple(1, &total, NULL), source = H5Screate_simple(1, &count, NULL);
  const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
  for (int i = 0; i < 2; ++i) {
    H5Sselect_hyperslab(space, H5S_SELECT_SET, &begins[i], NULL, &count, NULL);
    H5Pset_virtual(list, space, parts[i], "x", source);
  }
  H5Sselect_all(space);
  H5Dclose(H5Dcreate2(file, "virtual", H5T_NATIVE_INT, space, H5P_DEFAULT, list, H5P_DEFAULT));
  H5Fclose(file);
}

static void masks(void) {
  const mode_t modes[] = {0077, 0027, 0002, 0};
  for (int i = 0; i < 4; ++i) {
    char name[32];
    snprintf(name, sizeof name, "mask%d.h5", i);
    umask(modes[i]);
    simple_file(name, i);
    struct stat status;
    stat(name, &status);
    say_number("mode", status.st_mode & 07777);
  }
}

static void no_permission(void) {
  mkdir("closed", 0777);
  simple_file("closed/x.h5", 1);
  chmod("closed/x.h5", 0444);
  say("read", sum_in("closed/x.h5", "x"));
  const mode_t before = umask(077);
  simple_file("mine.h5", 1);
  umask(before);
  struct stat status;
  stat("mine.h5", &status);
  say_number("mode", status.st_mode & 0777);
}

// A path as long as a path may be, through directories with long names.
static void long_paths(void) {
  char name[201], path[4096] = "";
  memset(name, 'd', 200);
  name[200] = 0;
  for (int i = 0; i < 18; ++i) {
    snprintf(path + strlen(path), sizeof path - strlen(path), "%s%s", i ? "/" : "", name);
    mkdir(path, 0777);
  }
  snprintf(path + strlen(path), sizeof path - strlen(path), "/x.h5");
  simple_file(path, 3);
  say_number("sum", sum_in(path, "x"));
}

const struct habit habits_of_names[] = {
    {"exclusive", exclusive},   {"names", names},
    {"links", links},           {"mixed", mixed},
    {"masks", masks},           {"no_permission", no_permission},
    {"long_paths", long_paths}, {0},
};
