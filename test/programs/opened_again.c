// SPDX-License-Identifier: BSD-3-Clause
// Opens files that exist already. Run `opened_again make`, `opened_again SCENARIO` and
// `opened_again look` in one directory, each in its own process. Their output must be the same
// natively and over stubs.
#include <fcntl.h>
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { count = 20000 };

static void say(const char* what, long long answer) {
  printf("%s: %lld\n", what, answer);
  fflush(stdout);
}

static int* values_from(int seed) {
  int* values = malloc(count * sizeof *values);
  for (int i = 0; i < count; ++i) values[i] = seed + i % 1000;
  return values;
}

static herr_t put(hid_t at, const char* name, int seed) {
  const hsize_t size = count;
  const hid_t space = H5Screate_simple(1, &size, NULL);
  const hid_t set =
      H5Dcreate2(at, name, H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  int* values = values_from(seed);
  const herr_t done = H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  free(values);
  H5Dclose(set);
  H5Sclose(space);
  return done;
}

static herr_t change(hid_t at, const char* name, int seed) {
  const hid_t set = H5Dopen2(at, name, H5P_DEFAULT);
  if (set < 0) return -1;
  int* values = values_from(seed);
  const herr_t done = H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  free(values);
  H5Dclose(set);
  return done;
}

static long long sum_of(hid_t set) {
  if (set < 0) return -1;
  const hid_t space = H5Dget_space(set);
  const hssize_t size = H5Sget_simple_extent_npoints(space);
  H5Sclose(space);
  int* values = calloc((size_t)size + 1, sizeof *values);
  long long sum = 0;
  if (H5Dread(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0) sum = -2;
  for (hssize_t i = 0; sum >= 0 && i < size; ++i) sum += values[i];
  free(values);
  return sum;
}

static long long sum(hid_t at, const char* name) {
  if (H5Lexists(at, name, H5P_DEFAULT) <= 0) return -1;
  const hid_t set = H5Dopen2(at, name, H5P_DEFAULT);
  const long long result = sum_of(set);
  if (set >= 0) H5Dclose(set);
  return result;
}

static void say_sums(hid_t file) {
  const char* names[] = {"x", "new", "via", "virtual", "grow"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) say(names[i], sum(file, names[i]));
}

static hid_t latest(void) {
  const hid_t list = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_libver_bounds(list, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
  return list;
}

static const char* const files[] = {"plain.h5", "latest.h5", "child.h5", "parent.h5"};

// --- make and look ------------------------------------------------------------------------------

static void make_file(const char* name, hid_t list, int seed) {
  const hid_t file = H5Fcreate(name, H5F_ACC_TRUNC, H5P_DEFAULT, list);
  put(file, "x", seed);
  const hsize_t size = 1000, unlimited = H5S_UNLIMITED, chunk = 500;
  const hid_t space = H5Screate_simple(1, &size, &unlimited), how = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(how, 1, &chunk);
  const hid_t set = H5Dcreate2(file, "grow", H5T_NATIVE_INT, space, H5P_DEFAULT, how, H5P_DEFAULT);
  int* values = values_from(seed);
  H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  free(values);
  H5Dclose(set);
  say("make", H5Fclose(file));
}

static void make(void) {
  make_file("plain.h5", H5P_DEFAULT, 1);
  make_file("latest.h5", latest(), 2);
  make_file("child.h5", H5P_DEFAULT, 3);
  make_file("other.h5", H5P_DEFAULT, 4);
  const hid_t file = H5Fcreate("parent.h5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_external("child.h5", "/x", file, "via", H5P_DEFAULT, H5P_DEFAULT);
  const hsize_t size = count;
  const hid_t space = H5Screate_simple(1, &size, NULL), how = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_virtual(how, space, "child.h5", "/x", space);
  H5Dclose(H5Dcreate2(file, "virtual", H5T_NATIVE_INT, space, H5P_DEFAULT, how, H5P_DEFAULT));
  put(file, "x", 5);
  say("make", H5Fclose(file));
}

static void look(void) {
  for (size_t i = 0; i < sizeof files / sizeof *files; ++i) {
    const hid_t file = access(files[i], F_OK) == 0 ? H5Fopen(files[i], H5F_ACC_RDONLY, H5P_DEFAULT)
                                                   : H5I_INVALID_HID;
    printf("%s %s\n", files[i], file < 0 ? "does not open" : "opens");
    if (file < 0) continue;
    hsize_t size = 0;
    H5Fget_filesize(file, &size);
    say("size", (long long)size);
    say_sums(file);
    H5Fclose(file);
  }
}

// --- drivers ------------------------------------------------------------------------------------

static void say_driver(hid_t file) {
  const hid_t list = H5Fget_access_plist(file);
  const hid_t sec2 = H5Pcreate(H5P_FILE_ACCESS), core = H5Pcreate(H5P_FILE_ACCESS),
              stdio = H5Pcreate(H5P_FILE_ACCESS), log = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_sec2(sec2);
  H5Pset_fapl_core(core, 1, 0);
  H5Pset_fapl_stdio(stdio);
  H5Pset_fapl_log(log, NULL, 0, 0);
  const hid_t driver = H5Pget_driver(list);
  printf("driver: %s\n", driver == H5Pget_driver(sec2)    ? "sec2"
                         : driver == H5Pget_driver(core)  ? "core"
                         : driver == H5Pget_driver(stdio) ? "stdio"
                         : driver == H5Pget_driver(log)   ? "log"
                                                          : "another");
  if (driver == H5Pget_driver(core)) {
    size_t increment = 0, page = 0;
    hbool_t stored = 0, tracks = 0;
    H5Pget_fapl_core(list, &increment, &stored);
    H5Pget_core_write_tracking(list, &tracks, &page);
    printf("increment %zu, backing store %d, write tracking %d, page %zu\n", increment, stored,
           tracks, page);
    void** memory = NULL;
    H5Fget_vfd_handle(file, H5P_DEFAULT, (void**)&memory);
    say("handle leads to memory", memory != NULL && memcmp(*memory, "\211HDF", 4) == 0);
  }
  H5Pclose(list);
}

static void work_with(const char* name, unsigned flags, hid_t list) {
  const hid_t file = H5Fopen(name, flags, list);
  printf("%s %s\n", name, file < 0 ? "does not open" : "opens");
  if (file < 0) return;
  say_driver(file);
  hsize_t size = 0;
  H5Fget_filesize(file, &size);
  say("size", (long long)size);
  if (flags & H5F_ACC_RDWR) {
    if (H5Lexists(file, "x", H5P_DEFAULT) > 0) say("change", change(file, "x", 70));
    say("put", put(file, "new", 80));
    say("flush", H5Fflush(file, H5F_SCOPE_GLOBAL));
    H5Fget_filesize(file, &size);
    say("size", (long long)size);
    say("image", (long long)H5Fget_file_image(file, NULL, 0));
    say("put", put(file, "newer", 90));
  }
  say_sums(file);
  say("close", H5Fclose(file));
}

static hid_t core_list(size_t increment, int stored) {
  const hid_t list = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_core(list, increment, (hbool_t)stored);
  return list;
}

static void core_memory(void) {
  work_with("plain.h5", H5F_ACC_RDWR, core_list(1 << 16, 0));
  work_with("latest.h5", H5F_ACC_RDWR, core_list(1000, 0));
}

static void core_stored(void) {
  work_with("plain.h5", H5F_ACC_RDWR, core_list(1 << 16, 1));
  const hid_t tracking = core_list(4096, 1);
  H5Pset_core_write_tracking(tracking, 1, 8192);
  work_with("latest.h5", H5F_ACC_RDWR, tracking);
}

static void core_untouched(void) {
  for (int stored = 0; stored < 2; ++stored) {
    for (int i = 0; i < 2; ++i) {
      const hid_t file = H5Fopen(files[i], H5F_ACC_RDWR, core_list(1 << 20, stored));
      say("sum", sum(file, "x"));
      say("close", H5Fclose(file));
    }
  }
}

static void core_reading(void) {
  work_with("plain.h5", H5F_ACC_RDONLY, core_list(1 << 16, 0));
  work_with("latest.h5", H5F_ACC_RDONLY, core_list(1 << 16, 1));
}

// HDF5 shares no file between two drivers, so a change in memory is not seen through the other
// driver.
static void core_beside_sec2(void) {
  const hid_t without_locks = H5Pcreate(H5P_FILE_ACCESS), core = core_list(1 << 16, 0);
  H5Pset_file_locking(without_locks, 0, 1);
  H5Pset_file_locking(core, 0, 1);
  const hid_t file = H5Fopen("plain.h5", H5F_ACC_RDONLY, without_locks);
  const hid_t memory = H5Fopen("plain.h5", H5F_ACC_RDWR, core);
  say("open", memory >= 0);
  say("change", change(memory, "x", 500));
  say("flush", H5Fflush(memory, H5F_SCOPE_GLOBAL));
  say("in memory", sum(memory, "x"));
  say("in the file", sum(file, "x"));
  H5Fclose(memory);
  say("in the file", sum(file, "x"));
  H5Fclose(file);
}

// HDF5 opens the target of an external link with the parent's access list, which names a backing
// store.
static void core_links(void) {
  const hid_t file = H5Fopen("parent.h5", H5F_ACC_RDWR, core_list(1 << 16, 0));
  say("change", change(file, "via", 600));
  say("change", change(file, "x", 700));
  say_sums(file);
  say("close", H5Fclose(file));
}

static void core_delete(void) {
  say("delete in memory", H5Fdelete("plain.h5", core_list(1 << 16, 0)));
  say("is there", access("plain.h5", F_OK) == 0);
  say("delete", H5Fdelete("plain.h5", core_list(1 << 16, 1)));
  say("is there", access("plain.h5", F_OK) == 0);
}

static void core_locked(void) {
  const hid_t file = H5Fopen("latest.h5", H5F_ACC_RDWR, H5P_DEFAULT);
  const pid_t child = fork();
  if (child == 0) {
    execl("/proc/self/exe", "opened_again", "locked_child", (char*)NULL);
    _exit(9);
  }
  int status = 0;
  waitpid(child, &status, 0);
  H5Fclose(file);
  say("child", WEXITSTATUS(status));
}

static void locked_child(void) {
  H5E_BEGIN_TRY {
    say("locked by another process", H5Fopen("latest.h5", H5F_ACC_RDWR, core_list(1 << 16, 0)) < 0);
  }
  H5E_END_TRY
}

static void stdio_driver(void) {
  const hid_t list = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_stdio(list);
  work_with("latest.h5", H5F_ACC_RDONLY, list);
  work_with("plain.h5", H5F_ACC_RDWR, list);
}

static void log_driver(void) {
  const hid_t list = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_log(list, NULL, 0, 0);
  work_with("latest.h5", H5F_ACC_RDONLY, list);
  work_with("plain.h5", H5F_ACC_RDWR, list);
}

// A file that exists is opened, and one that does not is created.
static void creating(void) {
  work_with("plain.h5", H5F_ACC_RDWR | H5F_ACC_CREAT, H5P_DEFAULT);
  work_with("new.h5", H5F_ACC_RDWR | H5F_ACC_CREAT, H5P_DEFAULT);
}

// Uses the driver that HDF5_DRIVER names, if it is set.
static void default_list(void) { work_with("plain.h5", H5F_ACC_RDWR, H5P_DEFAULT); }

// Splitter, which writes a second file beside the first.
static void splitter(void) {
  H5FD_splitter_vfd_config_t config;
  memset(&config, 0, sizeof config);
  config.magic = H5FD_SPLITTER_MAGIC;
  config.version = H5FD_CURR_SPLITTER_VFD_CONFIG_VERSION;
  config.rw_fapl_id = config.wo_fapl_id = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_sec2(config.rw_fapl_id);
  strcpy(config.wo_path, "second.h5");
  const hid_t list = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_splitter(list, &config);
  work_with("plain.h5", H5F_ACC_RDWR, list);
}

// --- the program's error handler ----------------------------------------------------------------

static int handled = 0;
static herr_t handler2(hid_t stack, void* data) {
  (void)stack;
  (void)data;
  ++handled;
  return 0;
}
static herr_t handler1(void* data) {
  (void)data;
  ++handled;
  return 0;
}

static void say_errors(const char* what) {
  const int before = handled;  // the next calls of HDF5 may also call the handler
  const long long pending = H5Eget_num(H5E_DEFAULT);
  printf("%s: handler called %d times, %lld errors pending\n", what, before, pending);
  handled = 0;
}

static void many_calls(void) {
  const hid_t stdio = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fapl_stdio(stdio);
  const hid_t lists[] = {H5P_DEFAULT, stdio, core_list(1 << 16, 0), core_list(1 << 16, 1)};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; ++i) {
    printf("list %zu\n", i);
    const hid_t file = H5Fopen("parent.h5", H5F_ACC_RDWR, lists[i]);
    say_errors("open");
    say("via", sum(file, "via"));
    say_errors("external link");
    say("virtual", sum(file, "virtual"));
    say_errors("virtual dataset");
    H5Ocopy(file, "via", file, "copy", H5P_DEFAULT, H5P_DEFAULT);
    say_errors("copy");
    H5O_info2_t info;
    H5Oget_info_by_name3(file, "via", &info, H5O_INFO_BASIC, H5P_DEFAULT);
    say_errors("info");
    H5Pclose(H5Fget_access_plist(file));
    say_errors("access list");
    H5Ldelete(file, "copy", H5P_DEFAULT);
    H5Fflush(file, H5F_SCOPE_GLOBAL);
    say_errors("flush");
    H5Fclose(file);
    say_errors("close");
    H5Fis_accessible("parent.h5", lists[i]);
    say_errors("is accessible");
    H5Fis_accessible("opened_again.none", lists[i]);
    say_errors("is a missing file accessible");
    say("missing", H5Fopen("missing.h5", H5F_ACC_RDONLY, lists[i]) < 0);
    say("handler called", handled > 0);
    H5Eclear2(H5E_DEFAULT);
    handled = 0;
  }
  H5Fclose(H5Fcreate("created.h5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
  say_errors("create");
  H5Fclose(H5Fcreate("created.h5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
  say_errors("create again");
  H5Fdelete("created.h5", H5P_DEFAULT);
  say_errors("delete");
}

static void error_handler(void) {
  H5Eset_auto2(H5E_DEFAULT, handler2, NULL);
  many_calls();
  H5E_auto2_t set = NULL;
  H5Eget_auto2(H5E_DEFAULT, &set, NULL);
  say("handler is still set", set == handler2);
}

static void first_error_handler(void) {
  H5Eset_auto1(handler1, NULL);
  many_calls();
  H5E_auto1_t set = NULL;
  H5Eget_auto1(&set, NULL);
  say("handler is still set", set == handler1);
}

// --- a file copied into the one that is open ----------------------------------------------------

static void copy_into(const char* from, const char* to) {
  char buffer[65536];
  const int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_TRUNC);
  ssize_t got = 0;
  while ((got = read(in, buffer, sizeof buffer)) > 0)
    if (write(out, buffer, (size_t)got) != got) abort();
  close(in);
  close(out);
}

static void copied_into(void) {
  const hid_t first = H5Fopen("plain.h5", H5F_ACC_RDONLY, H5P_DEFAULT);
  copy_into("other.h5", "plain.h5");
  const hid_t second = H5Fopen("plain.h5", H5F_ACC_RDONLY, H5P_DEFAULT);
  say("the copy", sum(second, "x"));
  const hid_t third = H5Fopen("plain.h5", H5F_ACC_RDONLY, H5P_DEFAULT);
  say("once more", sum(third, "x"));
  H5Fclose(third);
  H5Fclose(second);
  H5Fclose(first);
}

// Only the connector knows that the file is open. Without it, HDF5 truncates the stub.
static void created_over_open(void) {
  const hid_t file = H5Fopen("plain.h5", H5F_ACC_RDONLY, H5P_DEFAULT);
  H5E_BEGIN_TRY {
    say("refused", H5Fcreate("plain.h5", H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT) < 0);
  }
  H5E_END_TRY
  say("sum", sum(file, "x"));
  H5Fclose(file);
}

// --- SWMR ---------------------------------------------------------------------------------------

static int to_reader, from_reader;
static pid_t reader;

static void start_reader(const char* path) {
  int in[2], out[2];
  if (pipe(in) != 0 || pipe(out) != 0) abort();
  reader = fork();
  if (reader == 0) {
    dup2(in[0], 0);
    dup2(out[1], 1);
    close(in[1]);
    close(out[0]);
    execl("/proc/self/exe", "opened_again", "reader", path, (char*)NULL);
    _exit(9);
  }
  close(in[0]);
  close(out[1]);
  to_reader = in[1];
  from_reader = out[0];
}

static void ask_reader(char word) {
  char answer[256];
  if (write(to_reader, &word, 1) != 1) abort();
  const ssize_t got = read(from_reader, answer, sizeof answer - 1);
  answer[got > 0 ? got : 0] = 0;
  printf("reader: %s", got > 0 ? answer : "is gone\n");
  fflush(stdout);
}

static void end_reader(void) {
  close(to_reader);
  int status = 0;
  waitpid(reader, &status, 0);
  say("reader ended", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

static int read_for_writer(const char* path) {
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  hid_t file = H5I_INVALID_HID, set = H5I_INVALID_HID;
  char word = 0;
  while (read(0, &word, 1) == 1) {
    if (word == 'o') {
      file = H5Fopen(path, H5F_ACC_RDONLY | H5F_ACC_SWMR_READ, H5P_DEFAULT);
      set = H5Dopen2(file, "grow", H5P_DEFAULT);
    } else {
      H5Drefresh(set);
    }
    const hid_t space = H5Dget_space(set);
    printf("%s, %lld values, sum %lld\n", file < 0 ? "does not open" : "open",
           (long long)H5Sget_simple_extent_npoints(space), sum_of(set));
    fflush(stdout);
  }
  H5Dclose(set);
  H5Fclose(file);
  return 0;
}

static void grow(hid_t file, hsize_t from, hsize_t to) {
  const hid_t set = H5Dopen2(file, "grow", H5P_DEFAULT);
  say("extend", H5Dset_extent(set, &to));
  const hsize_t more = to - from;
  const hid_t space = H5Dget_space(set), memory = H5Screate_simple(1, &more, NULL);
  H5Sselect_hyperslab(space, H5S_SELECT_SET, &from, NULL, &more, NULL);
  int* values = values_from((int)to);
  say("write", H5Dwrite(set, H5T_NATIVE_INT, memory, space, H5P_DEFAULT, values));
  free(values);
  say("flush", H5Dflush(set));
  H5Dclose(set);
}

static void write_for_reader(hid_t file, int is_reading) {
  say("open", file >= 0);
  if (file < 0) return;
  ask_reader(is_reading ? 'r' : 'o');
  grow(file, 1000, 2000);
  ask_reader('r');
  grow(file, 2000, 5000);
  ask_reader('r');
  say("close", H5Fclose(file));
  end_reader();
}

static void swmr_writer(void) {
  start_reader("latest.h5");
  write_for_reader(H5Fopen("latest.h5", H5F_ACC_RDWR | H5F_ACC_SWMR_WRITE, latest()), 0);
}

// Runs without file locks, because with them a reader's lock keeps the writer out, natively too.
static void swmr_reader_first(void) {
  setenv("HDF5_USE_FILE_LOCKING", "FALSE", 1);
  start_reader("latest.h5");
  ask_reader('o');
  const hid_t list = latest();
  H5Pset_file_locking(list, 0, 1);
  write_for_reader(H5Fopen("latest.h5", H5F_ACC_RDWR | H5F_ACC_SWMR_WRITE, list), 1);
}

static void swmr_locked_out(void) {
  start_reader("latest.h5");
  ask_reader('o');
  H5E_BEGIN_TRY {
    say("writer is kept out",
        H5Fopen("latest.h5", H5F_ACC_RDWR | H5F_ACC_SWMR_WRITE, latest()) < 0);
  }
  H5E_END_TRY
  end_reader();
}

static void swmr_started(void) {
  start_reader("latest.h5");
  const hid_t file = H5Fopen("latest.h5", H5F_ACC_RDWR, latest());
  say("start", H5Fstart_swmr_write(file));
  write_for_reader(file, 0);
}

static void swmr_created(void) {
  const hid_t file = H5Fcreate("latest.h5", H5F_ACC_TRUNC, H5P_DEFAULT, latest());
  start_reader("latest.h5");
  const hsize_t size = 1000, unlimited = H5S_UNLIMITED, chunk = 500;
  const hid_t space = H5Screate_simple(1, &size, &unlimited), how = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(how, 1, &chunk);
  H5Dclose(H5Dcreate2(file, "grow", H5T_NATIVE_INT, space, H5P_DEFAULT, how, H5P_DEFAULT));
  say("start", H5Fstart_swmr_write(file));
  write_for_reader(file, 0);
}

static const struct {
  const char* name;
  void (*run)(void);
} scenarios[] = {
    {"core_memory", core_memory},
    {"core_stored", core_stored},
    {"core_untouched", core_untouched},
    {"core_reading", core_reading},
    {"core_beside_sec2", core_beside_sec2},
    {"core_links", core_links},
    {"core_delete", core_delete},
    {"core_locked", core_locked},
    {"stdio_driver", stdio_driver},
    {"log_driver", log_driver},
    {"creating", creating},
    {"error_handler", error_handler},
    {"first_error_handler", first_error_handler},
    {"copied_into", copied_into},
    {"swmr_writer", swmr_writer},
    {"swmr_reader_first", swmr_reader_first},
    {"swmr_locked_out", swmr_locked_out},
    {"swmr_started", swmr_started},
    {"swmr_created", swmr_created},
};
// Scenarios with a test of their own, and words that are not scenarios.
static const struct {
  const char* name;
  void (*run)(void);
} others[] = {{"make", make},
              {"look", look},
              {"default_list", default_list},
              {"created_over_open", created_over_open},
              {"splitter", splitter},
              {"locked_child", locked_child}};

int main(int argument_count, char** arguments) {
  const size_t known = sizeof scenarios / sizeof *scenarios;
  if (argument_count == 3 && strcmp(arguments[1], "reader") == 0)
    return read_for_writer(arguments[2]);
  for (size_t i = 0; i < known; ++i) {
    if (argument_count < 2) puts(scenarios[i].name);
    if (argument_count < 2 || strcmp(arguments[1], scenarios[i].name) != 0) continue;
    scenarios[i].run();
    return 0;
  }
  for (size_t i = 0; argument_count > 1 && i < sizeof others / sizeof *others; ++i) {
    if (strcmp(arguments[1], others[i].name) != 0) continue;
    others[i].run();
    return 0;
  }
  return argument_count < 2 ? 0 : 2;
}
