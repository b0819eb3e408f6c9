// SPDX-License-Identifier: BSD-3-Clause
// Habits of real programs, each of which must look the same natively and captured: prints what
// every call answered. `habits SCENARIO` works in the current directory; habits-look-as-natively runs
// all of them both ways and compares what was printed and what the files hold.
#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char* own_path;

static void say(const char* what, long answer) {
  printf("%s: %s\n", what, answer < 0 ? "refused" : "good"), fflush(stdout);
}
static void say_number(const char* what, long number) {
  printf("%s: %ld\n", what, number), fflush(stdout);
}

static hid_t list_with_degree(H5F_close_degree_t degree) {
  const hid_t list = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fclose_degree(list, degree);
  return list;
}

static hid_t create(const char* path) {
  return H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
}

static hid_t make_set(hid_t at, const char* name, int count) {
  const hsize_t size = (hsize_t)count;
  const hid_t space = H5Screate_simple(1, &size, NULL);
  const hid_t set =
      H5Dcreate2(at, name, H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Sclose(space);
  return set;
}

static long write_set(hid_t set, int count, int seed) {
  int* values = malloc((size_t)count * sizeof *values);
  for (int i = 0; i < count; ++i) values[i] = seed + i;
  const long answer = H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  free(values);
  return answer;
}

static long put(hid_t at, const char* name, int count, int seed) {
  const hid_t set = make_set(at, name, count);
  const long answer = set < 0 ? -1 : write_set(set, count, seed);
  if (set >= 0) H5Dclose(set);
  return answer;
}

// The sum of a dataset's values, -1 where it cannot be read.
static long sum(hid_t at, const char* name) {
  const hid_t set = H5Dopen2(at, name, H5P_DEFAULT);
  if (set < 0) return -1;
  const hid_t space = H5Dget_space(set);
  const hssize_t count = H5Sget_simple_extent_npoints(space);
  int* values = calloc((size_t)count + 1, sizeof *values);
  long total = H5Dread(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0 ? -1 : 0;
  for (hssize_t i = 0; total >= 0 && i < count; ++i) total += values[i];
  free(values);
  H5Sclose(space);
  H5Dclose(set);
  return total;
}

static long sum_in(const char* path, const char* name) {
  const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  if (file < 0) return -1;
  const long total = sum(file, name);
  H5Fclose(file);
  return total;
}

static void simple_file(const char* path, int seed) {
  const hid_t file = create(path);
  say("create", file);
  say("put", put(file, "x", 1000, seed));
  say("close", H5Fclose(file));
}

// What another process, without anything open, makes of `path`.
static void ask_other(const char* word, const char* path) {
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    execl(own_path, own_path, word, path, (char*)NULL);
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  printf("other %s: %d\n", word, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
  fflush(stdout);
}

static void wait_for(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  printf("child: %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

// --- scenarios ----------------------------------------------------------------------------------

static void closing(void) {
  const H5F_close_degree_t degrees[] = {H5F_CLOSE_DEFAULT, H5F_CLOSE_WEAK, H5F_CLOSE_SEMI,
                                        H5F_CLOSE_STRONG};
  for (int i = 0; i < 4; ++i) {
    char name[32];
    snprintf(name, sizeof name, "degree%d.h5", i);
    const hid_t list = list_with_degree(degrees[i]);
    const hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, list);
    const hid_t set = make_set(file, "x", 1000);
    say("write", write_set(set, 1000, i));
    say("close file first", H5Fclose(file));
    say("write after close", write_set(set, 1000, i + 7));
    say("close set", H5Dclose(set));
    say_number("sum", sum_in(name, "x"));
    if (degrees[i] == H5F_CLOSE_SEMI) H5Fclose(file);
    H5Pclose(list);
  }
}

static void leaked(void) {
  const hid_t file = create("leaked.h5");
  const hid_t set = make_set(file, "x", 1000);
  write_set(set, 1000, 3);
  H5Gcreate2(file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  say("close", H5Fclose(file));  // set and group stay open until the end
}

static void open_at_exit(void) {
  const hid_t file = create("open_at_exit.h5");
  say("put", put(file, "x", 100000, 3));
}

static void exit_at_once(void) {
  const hid_t file = create("exit_at_once.h5");
  say("put", put(file, "x", 1000, 3));
  say("flush", H5Fflush(file, H5F_SCOPE_GLOBAL));
  fflush(stdout);
  _exit(0);
}

static void closed_then_abort(void) {
  simple_file("closed_then_abort.h5", 9);
  fflush(stdout);
  signal(SIGABRT, SIG_DFL);
  const pid_t child = fork();
  if (child == 0) abort();
  int status = 0;
  waitpid(child, &status, 0);
  _exit(0);
}

static void forking(void) {
  const hid_t file = create("forking.h5");
  say("put", put(file, "before", 1000, 1));
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) _exit(0);
  wait_for(child);
  say("put", put(file, "between", 1000, 2));
  fflush(stdout);
  child = fork();
  if (child == 0) {
    // A child of its own life, with a file of its own.
    const hid_t own = create("child.h5");
    put(own, "x", 10, 5);
    _exit(H5Fclose(own) < 0);
  }
  wait_for(child);
  say("put", put(file, "after", 1000, 3));
  say("close", H5Fclose(file));
  say_number("sum", sum_in("forking.h5", "before") + sum_in("forking.h5", "between") +
                        sum_in("forking.h5", "after"));
  say_number("child's", sum_in("child.h5", "x"));
}

static void twice_open(void) {
  const hid_t file = create("twice.h5");
  say("put", put(file, "x", 1000, 1));
  const hid_t again = H5Fopen("twice.h5", H5F_ACC_RDWR, H5P_DEFAULT);
  say("second open", again);
  say_number("sum through it", sum(again, "x"));
  say("put through it", put(again, "y", 1000, 2));
  say("truncate an open file", create("twice.h5"));
  say("exclusive create of it", H5Fcreate("twice.h5", H5F_ACC_EXCL, H5P_DEFAULT, H5P_DEFAULT));
  say("read only beside it", H5Fopen("./twice.h5", H5F_ACC_RDONLY, H5P_DEFAULT) < 0 ? -1 : 0);
  say("close", H5Fclose(file));
  say("close", H5Fclose(again));
  // The third handle is left to the end.
}

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

static void overwriting(void) {
  for (int i = 0; i < 3; ++i) {
    const hid_t file = create("again.h5");
    say("put", put(file, "x", 1000 * (i + 1), i));
    if (i == 2) say("put", put(file, "y", 10, i));
    say("close", H5Fclose(file));
    say_number("sum", sum_in("again.h5", "x"));
  }
  struct stat status;
  chmod("again.h5", 0640);
  simple_file("again.h5", 5);
  stat("again.h5", &status);
  say_number("mode", status.st_mode & 0777);
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

static void appending(void) {
  simple_file("append.h5", 1);
  for (int i = 0; i < 4; ++i) {
    char name[16];
    snprintf(name, sizeof name, "y%d", i);
    const hid_t file = H5Fopen("append.h5", H5F_ACC_RDWR, H5P_DEFAULT);
    say("open", file);
    say("put", put(file, name, 1000 << i, i));
    say("close", H5Fclose(file));
    say_number("sum", sum_in("append.h5", name));
  }
  const hid_t untouched = H5Fopen("append.h5", H5F_ACC_RDWR, H5P_DEFAULT);
  say_number("sum", sum(untouched, "x"));
  say("close", H5Fclose(untouched));
  simple_file("shrink.h5", 1);
  const hid_t file = H5Fopen("shrink.h5", H5F_ACC_RDWR, H5P_DEFAULT);
  say("delete", H5Ldelete(file, "x", H5P_DEFAULT));
  say("close", H5Fclose(file));
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

static void drivers(void) {
  simple_file("plain.h5", 1);
  const hid_t core = H5Pcreate(H5P_FILE_ACCESS), stdio = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_core(core, 1 << 16, 1);
  H5Pset_fapl_stdio(stdio);
  hid_t file = H5Fopen("plain.h5", H5F_ACC_RDONLY, core);
  say("open by core", file);
  say_number("sum", sum(file, "x"));
  H5Fclose(file);
  file = H5Fopen("plain.h5", H5F_ACC_RDONLY, stdio);
  say("open by stdio", file);
  say_number("sum", sum(file, "x"));
  H5Fclose(file);
  file = H5Fcreate("core.h5", H5F_ACC_TRUNC, H5P_DEFAULT, core);
  say("put", put(file, "x", 1000, 2));
  say("close", H5Fclose(file));
  say_number("sum", sum_in("core.h5", "x"));
  file = H5Fcreate("stdio.h5", H5F_ACC_TRUNC, H5P_DEFAULT, stdio);
  say("put", put(file, "x", 1000, 2));
  say("close", H5Fclose(file));
  const hid_t family = H5Pcreate(H5P_FILE_ACCESS), split = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_family(family, 2048, H5P_DEFAULT);
  file = H5Fcreate("family%d.h5", H5F_ACC_TRUNC, H5P_DEFAULT, family);
  say("put", put(file, "x", 1000, 2));
  say("close", H5Fclose(file));
  H5Pset_fapl_split(split, "-m.h5", H5P_DEFAULT, "-r.h5", H5P_DEFAULT);
  file = H5Fcreate("split", H5F_ACC_TRUNC, H5P_DEFAULT, split);
  say("put", put(file, "x", 1000, 2));
  say("close", H5Fclose(file));
  file = H5Fopen("plain.h5", H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t list = H5Fget_access_plist(file), given = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_sec2(given);
  say_number("driver is sec2", H5Pget_driver(list) == H5Pget_driver(given));
  int* handle = NULL;
  say("handle", H5Fget_vfd_handle(file, H5P_DEFAULT, (void**)&handle));
  struct stat by_handle, by_name;
  fstat(*handle, &by_handle);
  stat("plain.h5", &by_name);
  say_number("handle leads to the path", by_handle.st_ino == by_name.st_ino);
  hsize_t size = 0;
  H5Fget_filesize(file, &size);
  say_number("size", (long)size);
  say_number("image", (long)H5Fget_file_image(file, NULL, 0));
  H5Fclose(file);
}

static void swmr(void) {
  const hid_t list = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_libver_bounds(list, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
  hid_t file = H5Fcreate("swmr.h5", H5F_ACC_TRUNC | H5F_ACC_SWMR_WRITE, H5P_DEFAULT, list);
  say("create", file);
  say("close", H5Fclose(file));
  file = H5Fcreate("later.h5", H5F_ACC_TRUNC, H5P_DEFAULT, list);
  say("put", put(file, "x", 1000, 1));
  say("start", H5Fstart_swmr_write(file));
  const hid_t set = H5Dopen2(file, "x", H5P_DEFAULT);
  say("write", write_set(set, 1000, 5));
  say("flush", H5Dflush(set));
  ask_other("read-swmr", "later.h5");
  H5Dclose(set);
  say("close", H5Fclose(file));
  say_number("sum", sum_in("later.h5", "x"));
}

// Files of drivers that make several files, or none, of one name.
static void other_drivers(void) {
  const hid_t family = H5Pcreate(H5P_FILE_ACCESS), split = H5Pcreate(H5P_FILE_ACCESS),
              core = H5Pcreate(H5P_FILE_ACCESS), log = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_family(family, 64 * 1024, H5P_DEFAULT);
  H5Pset_fapl_split(split, "-meta.h5", H5P_DEFAULT, "-raw.h5", H5P_DEFAULT);
  H5Pset_fapl_core(core, 1 << 16, 1);
  H5Pset_fapl_log(log, NULL, 0, 0);
  const struct {
    const char* name;
    hid_t list;
  } ways[] = {{"family%d.h5", family}, {"split", split}, {"core.h5", core}, {"log.h5", log}};
  for (int i = 0; i < 4; ++i) {
    hid_t file = H5Fcreate(ways[i].name, H5F_ACC_TRUNC, H5P_DEFAULT, ways[i].list);
    say("create", file);
    say("put", put(file, "x", 50000, i));
    say("close", H5Fclose(file));
    file = H5Fopen(ways[i].name, H5F_ACC_RDONLY, ways[i].list);
    say_number("sum", sum(file, "x"));
    H5Fclose(file);
  }
  say_number("second member", access("family1.h5", F_OK));
  simple_file("default.h5", 1);
}

static herr_t file_from_callback(hid_t group, const char* name, const H5L_info2_t* info,
                                 void* data) {
  (void)info, (void)data;
  char path[64];
  snprintf(path, sizeof path, "from_%s.h5", name);
  const hid_t file = create(path);
  const long put_here = put(file, "copy", 1000, 5);
  const long copied = H5Ocopy(group, name, file, name, H5P_DEFAULT, H5P_DEFAULT);
  return put_here < 0 || copied < 0 || H5Fclose(file) < 0 || sum_in(path, name) < 0 ? -1 : 0;
}

// A second file that is made, closed and read while HDF5 walks the first one.
static void iterating(void) {
  const hid_t file = create("walked.h5");
  put(file, "a", 1000, 1);
  put(file, "b", 9000, 2);
  say("walk", H5Literate2(file, H5_INDEX_NAME, H5_ITER_INC, NULL, file_from_callback, NULL));
  say("close", H5Fclose(file));
  say_number("sum", sum_in("from_b.h5", "b"));
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

static void bounds(void) {
  const H5F_libver_t versions[] = {H5F_LIBVER_EARLIEST, H5F_LIBVER_V18, H5F_LIBVER_V110,
                                   H5F_LIBVER_LATEST};
  for (int i = 0; i < 4; ++i) {
    char name[32];
    snprintf(name, sizeof name, "bounds%d.h5", i);
    const hid_t list = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_libver_bounds(list, versions[i], H5F_LIBVER_LATEST);
    hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, list);
    for (int n = 0; n < 50; ++n) {
      char set[16];
      snprintf(set, sizeof set, "x%d", n);
      put(file, set, 1000, n);
    }
    say("close", H5Fclose(file));
    file = H5Fopen(name, H5F_ACC_RDWR, list);
    say("put", put(file, "later", 1000, 7));
    say("close", H5Fclose(file));
    say_number("sum", sum_in(name, "x49"));
  }
}

// What a rank without particles writes.
static void empty(void) {
  say("close", H5Fclose(create("nothing.h5")));
  hid_t file = create("zero.h5");
  say("put", put(file, "x", 0, 0));
  const hid_t space = H5Screate(H5S_NULL);
  say("null", H5Dclose(H5Dcreate2(file, "null", H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT,
                                  H5P_DEFAULT)));
  say("close", H5Fclose(file));
  say_number("sum", sum_in("zero.h5", "x"));
}

// Each other file of a mix was written before: by test/programs/habits-look-as-natively, natively.
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
static void mixed_before(void) {
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

static void many_small(void) {
  const hid_t file = create("many.h5");
  for (int i = 0; i < 3000; ++i) {
    char name[32];
    snprintf(name, sizeof name, "set%d", i);
    if (put(file, name, 20, i) < 0) say("put", -1);
  }
  say("close", H5Fclose(file));
  say_number("sum", sum_in("many.h5", "set2999"));
}

// As deep as a path may be, by directories of long names.
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

static void locking(void) {
  const hid_t file = create("locked.h5");
  say("put", put(file, "x", 1000, 1));
  say("flush", H5Fflush(file, H5F_SCOPE_LOCAL));
  ask_other("read", "locked.h5");
  ask_other("write",
            "locked.h5");  // (to truncate a locked file fails natively too, but kills its data)
  say("put", put(file, "y", 1000, 1));
  say("close", H5Fclose(file));
  ask_other("read", "locked.h5");
  const hid_t reader = H5Fopen("locked.h5", H5F_ACC_RDONLY, H5P_DEFAULT);
  ask_other("read", "locked.h5");
  ask_other("write", "locked.h5");
  say_number("sum", sum(reader, "x"));
  H5Fclose(reader);
  ask_other("write", "locked.h5");
  ask_other("truncate", "locked.h5");
}

static void gaps(void) {
  for (int i = 0; i < 4; ++i) {
    char name[32];
    snprintf(name, sizeof name, "gaps%d.h5", i);
    const hid_t file = create(name);
    if (i % 2 == 0) {
      say("put", put(file, "x", 1 << 18, 0x7fffff0));
    } else {
      const hid_t list = H5Pcreate(H5P_DATASET_CREATE);
      H5Pset_alloc_time(list, H5D_ALLOC_TIME_EARLY);
      H5Pset_fill_time(list, H5D_FILL_TIME_NEVER);
      const hsize_t size = 1 << 18, start = 5000, count = 100000;
      const hid_t space = H5Screate_simple(1, &size, NULL),
                  memory = H5Screate_simple(1, &count, NULL);
      const hid_t set =
          H5Dcreate2(file, "x", H5T_NATIVE_INT, space, H5P_DEFAULT, list, H5P_DEFAULT);
      int* values = malloc(count * sizeof *values);
      for (hsize_t k = 0; k < count; ++k) values[k] = (int)k;
      H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &count, NULL);
      say("write", H5Dwrite(set, H5T_NATIVE_INT, memory, space, H5P_DEFAULT, values));
      free(values);
      H5Dclose(set);
      H5Pclose(list);
      say_number("sum", sum(file, "x"));
    }
    say("close", H5Fclose(file));
    say_number("sum", sum_in(name, "x"));
  }
}

static void closing_library(void) {
  simple_file("before.h5", 1);
  say("H5close", H5close());
  say("H5open", H5open());
  simple_file("after.h5", 2);
  say_number("sum", sum_in("before.h5", "x") + sum_in("after.h5", "x"));
}

static void flushing(void) {
  const hid_t file = create("flushed.h5");
  for (int i = 0; i < 50; ++i) {
    char name[16];
    snprintf(name, sizeof name, "x%d", i);
    put(file, name, 1000, i);
    if (H5Fflush(file, i % 2 ? H5F_SCOPE_GLOBAL : H5F_SCOPE_LOCAL) < 0) say("flush", -1);
  }
  say("close", H5Fclose(file));
  say_number("sum", sum_in("flushed.h5", "x49"));
}

static void user_block(void) {
  const hid_t list = H5Pcreate(H5P_FILE_CREATE);
  H5Pset_userblock(list, 512);
  const hid_t file = H5Fcreate("block.h5", H5F_ACC_TRUNC, list, H5P_DEFAULT);
  say("put", put(file, "x", 1000, 1));
  say("close", H5Fclose(file));
  const int open_file = open("block.h5", O_RDWR);
  say_number("written", pwrite(open_file, "user's own", 10, 0));
  close(open_file);
  say_number("sum", sum_in("block.h5", "x"));
}

static void paged(void) {
  const hid_t list = H5Pcreate(H5P_FILE_CREATE), access_list = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_file_space_strategy(list, H5F_FSPACE_STRATEGY_PAGE, 1, 1);
  H5Pset_file_space_page_size(list, 4096);
  H5Pset_page_buffer_size(access_list, 1 << 16, 0, 0);
  const hid_t file = H5Fcreate("paged.h5", H5F_ACC_TRUNC, list, access_list);
  say("put", put(file, "x", 10000, 1));
  say("put", put(file, "y", 10, 1));
  say("close", H5Fclose(file));
  say_number("sum", sum_in("paged.h5", "x"));
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

// What ask_other starts.
static int answer(const char* word, const char* path) {
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  if (!strcmp(word, "read")) return sum_in(path, "x") < 0;
  if (!strcmp(word, "truncate")) {
    const hid_t file = create(path);
    return file < 0 || put(file, "x", 10, 1) < 0 || H5Fclose(file) < 0;
  }
  const int swmr_read = !strcmp(word, "read-swmr");
  const hid_t file =
      H5Fopen(path, swmr_read ? H5F_ACC_RDONLY | H5F_ACC_SWMR_READ : H5F_ACC_RDWR, H5P_DEFAULT);
  if (file < 0) return 1;
  const long total = sum(file, "x");
  return total < 0 || H5Fclose(file) < 0;
}

int main(int count, char** words) {
  static const struct {
    const char* name;
    void (*run)(void);
  } scenarios[] = {
      {"closing", closing},
      {"leaked", leaked},
      {"open_at_exit", open_at_exit},
      {"exit_at_once", exit_at_once},
      {"closed_then_abort", closed_then_abort},
      {"forking", forking},
      {"twice_open", twice_open},
      {"exclusive", exclusive},
      {"overwriting", overwriting},
      {"names", names},
      {"appending", appending},
      {"links", links},
      {"drivers", drivers},
      {"swmr", swmr},
      {"locking", locking},
      {"gaps", gaps},
      {"closing_library", closing_library},
      {"flushing", flushing},
      {"user_block", user_block},
      {"paged", paged},
      {"no_permission", no_permission},
      {"other_drivers", other_drivers},
      {"iterating", iterating},
      {"masks", masks},
      {"bounds", bounds},
      {"empty", empty},
      {"mixed", mixed},
      {"many_small", many_small},
      {"long_paths", long_paths},
  };
  const int scenario_count = sizeof scenarios / sizeof *scenarios;
  own_path = "/proc/self/exe";
  if (count == 3) return answer(words[1], words[2]);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  if (count == 2 && !strcmp(words[1], "mixed_before")) return mixed_before(), 0;
  for (int i = 0; i < scenario_count; ++i) {
    if (count == 1) {
      puts(scenarios[i].name);
    } else if (!strcmp(words[1], scenarios[i].name)) {
      scenarios[i].run();
      return 0;
    }
  }
  return count == 1 ? 0 : 2;
}
