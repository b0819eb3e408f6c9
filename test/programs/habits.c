// SPDX-License-Identifier: BSD-3-Clause
// Habits of real programs. Each must give the same results natively and captured. `habits SCENARIO`
// works in the current directory, and prints the result of every call. The test
// habits-look-as-natively runs all scenarios both ways, and compares the output and the contents of
// the files.
#include "habits.h"

#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char* own_path;

void say(const char* what, long answer) {
  printf("%s: %s\n", what, answer < 0 ? "refused" : "good"), fflush(stdout);
}

void say_number(const char* what, long number) {
  printf("%s: %ld\n", what, number), fflush(stdout);
}

hid_t create(const char* path) { return H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT); }

hid_t make_set(hid_t at, const char* name, int count) {
  const hsize_t size = (hsize_t)count;
  const hid_t space = H5Screate_simple(1, &size, NULL);
  const hid_t set =
      H5Dcreate2(at, name, H5T_NATIVE_INT, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Sclose(space);
  return set;
}

long write_set(hid_t set, int count, int seed) {
  int* values = malloc((size_t)count * sizeof *values);
  for (int i = 0; i < count; ++i) values[i] = seed + i;
  const long answer = H5Dwrite(set, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
  free(values);
  return answer;
}

long put(hid_t at, const char* name, int count, int seed) {
  const hid_t set = make_set(at, name, count);
  const long answer = set < 0 ? -1 : write_set(set, count, seed);
  if (set >= 0) H5Dclose(set);
  return answer;
}

long sum(hid_t at, const char* name) {
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

long sum_in(const char* path, const char* name) {
  const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
  if (file < 0) return -1;
  const long total = sum(file, name);
  H5Fclose(file);
  return total;
}

void simple_file(const char* path, int seed) {
  const hid_t file = create(path);
  say("create", file);
  say("put", put(file, "x", 1000, seed));
  say("close", H5Fclose(file));
}

void ask_other(const char* word, const char* path) {
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

void wait_for(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  printf("child: %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

// The process that ask_other starts.
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
  static const struct habit* const kinds[] = {habits_of_closing, habits_of_processes,
                                              habits_of_names, habits_of_lists, habits_of_contents};
  const int kind_count = sizeof kinds / sizeof *kinds;
  own_path = "/proc/self/exe";
  if (count == 3) return answer(words[1], words[2]);
  H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
  if (count == 2 && !strcmp(words[1], "mixed_before")) return mixed_before(), 0;
  for (int kind = 0; kind < kind_count; ++kind) {
    for (const struct habit* habit = kinds[kind]; habit->name; ++habit) {
      if (count == 1) {
        puts(habit->name);
      } else if (!strcmp(words[1], habit->name)) {
        return habit->run(), 0;
      }
    }
  }
  return count == 1 ? 0 : 2;
}
