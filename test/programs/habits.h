// SPDX-License-Identifier: BSD-3-Clause
// What habits are written with. Each file habits_of_….c has those of one kind.
#pragma once

#include <hdf5.h>
#include <sys/types.h>

struct habit {
  const char* name;
  void (*run)(void);
};
// Each ends with a habit without a name.
extern const struct habit habits_of_closing[];
extern const struct habit habits_of_processes[];
extern const struct habit habits_of_names[];
extern const struct habit habits_of_lists[];
extern const struct habit habits_of_contents[];
// Run natively before the habit `mixed`.
void mixed_before(void);

void say(const char* what, long answer);
void say_number(const char* what, long number);
hid_t create(const char* path);
hid_t make_set(hid_t at, const char* name, int count);
long write_set(hid_t set, int count, int seed);
long put(hid_t at, const char* name, int count, int seed);
// The sum of a dataset's values, -1 where it cannot be read.
long sum(hid_t at, const char* name);
long sum_in(const char* path, const char* name);
void simple_file(const char* path, int seed);
// What another process, without anything open, makes of `path`.
void ask_other(const char* word, const char* path);
void wait_for(pid_t child);
