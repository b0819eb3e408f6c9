// SPDX-License-Identifier: BSD-3-Clause
// What programs do with processes, locks and descriptors.
#include <fcntl.h>
#include <hdf5.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "habits.h"

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
    // A child process that goes on by itself, with its own file.
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

// The program closes its standard streams, and then prints to 1 and 2. Natively, the open file gets
// descriptor 0, and 1 and 2 stay free.
static void no_streams(void) {
  simple_file("before.h5", 1);
  enum { streams = 3, kept = 200 };
  for (int i = 0; i < streams; ++i) dup2(i, kept + i), close(i);
  const hid_t file = create("without.h5");
  const long first = put(file, "x", 50000, 2);
  for (int i = 1; i < streams; ++i)
    if (write(i, "printed", 7) > 0) kill(getpid(), SIGKILL);
  const long second = put(file, "y", 1000, 3), closed = H5Fclose(file);
  for (int i = 0; i < streams; ++i) dup2(kept + i, i), close(kept + i);
  say("put", first);
  say("put", second);
  say("close", closed);
  say_number("sum", sum_in("without.h5", "x"));
}

// Closes all descriptors, as daemons do.
static void closing_descriptors(void) {
  simple_file("before.h5", 1);
  for (int i = 3; i < 100; ++i) close(i);
  int own[8];
  for (int i = 0; i < 8; ++i) {
    char name[24];
    snprintf(name, sizeof name, "own%d.txt", i);
    own[i] = open(name, O_RDWR | O_CREAT | O_TRUNC, 0666);
    say_number("written", write(own[i], "the program's own", 17));
  }
  const pid_t child = fork();
  if (child == 0) {
    int open_here = 0;
    for (int i = 0; i < 8; ++i) open_here += fcntl(own[i], F_GETFD) >= 0;
    _exit(open_here);
  }
  wait_for(child);
  simple_file("after.h5", 2);
  say_number("sum", sum_in("before.h5", "x") + sum_in("after.h5", "x"));
  for (int i = 0; i < 8; ++i) say_number("still open", fcntl(own[i], F_GETFD) >= 0);
}

static volatile sig_atomic_t signals = 0;
static void count_signal(int number) { (void)number, signals = signals + 1; }

// Counts ended children by a signal handler. The program has none, so none may be counted.
static void counting_children(void) {
  signal(SIGCHLD, count_signal);
  simple_file("counted.h5", 1);
  say_number("interrupted", usleep(200000));
  say_number("children that ended", signals);
}

const struct habit habits_of_processes[] = {
    {"forking", forking},
    {"swmr", swmr},
    {"locking", locking},
    {"no_streams", no_streams},
    {"closing_descriptors", closing_descriptors},
    {"counting_children", counting_children},
    {0},
};
