// SPDX-License-Identifier: BSD-3-Clause
// How files are closed, and left open.
#include <hdf5.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "habits.h"

static hid_t list_with_degree(H5F_close_degree_t degree) {
  const hid_t list = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_fclose_degree(list, degree);
  return list;
}

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
  // The third handle stays open until the end.
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

const struct habit habits_of_closing[] = {
    {"closing", closing},
    {"leaked", leaked},
    {"open_at_exit", open_at_exit},
    {"exit_at_once", exit_at_once},
    {"closed_then_abort", closed_then_abort},
    {"closing_library", closing_library},
    {"flushing", flushing},
    {"twice_open", twice_open},
    {"appending", appending},
    {"overwriting", overwriting},
    {0},
};
