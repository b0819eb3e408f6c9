// SPDX-License-Identifier: BSD-3-Clause
// Carries out its arguments one after another, each an action with files. Used to test the habits
// of real programs.
//
//   mpiexec -n 4 actor 'create a_{rank}.h5' 'write a_{rank}.h5 x 1000 7' 'close a_{rank}.h5' '@0:
//   create log.h5' '! excl a_0.h5'
//
// Each argument is one action: words separated by blanks. {rank} and {ranks} stand for their
// numbers, {rank:4} with leading zeros, {rank/4} divided. An action after '@0,2: ' runs only in
// ranks 0 and 2; an action after '! ' must fail. Files are named by their path as given. If an
// action fails, the program names it and ends with status 1.
//
//   create F | excl F | open F | openrw F      H5Fcreate (TRUNC, EXCL), H5Fopen (RDONLY, RDWR)
//   write F D COUNT SEED                       creates dataset D of COUNT doubles
//   grow F D COUNT SEED                        appends COUNT doubles to the extendable dataset D
//   rewrite F D COUNT SEED                     writes into the existing dataset
//   gaps F D COUNT SEED                        allocates early, never fills, writes every second
//                                              element
//   check F D COUNT SEED                       reads and compares
//   attr F NAME VALUE | checkattr F NAME VALUE one integer at the root
//   flush F | close F | rename A B | unlink A | link A B | symlink A B | copy A B | touch F | chmod F MODE
//   mkdir D | rmdir D | rmtree D | chdir D | chroot D | sleep MS | say TEXT
//   exchange A B                               two names change their files (RENAME_EXCHANGE)
//   await F [MS]                               waits until F exists
//   hold MIB                                   allocates this much more memory and keeps it exit N
//   | _exit N | abort fork                                       the child ends at once by
//   _exit(0), the parent waits childless                                  wait() finds no child,
//   ended or not
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <hdf5.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { most_words = 8, most_files = 4096 };

static long rank, ranks;
static struct {
  char* path;
  hid_t id;
} files[most_files];

static double value(long seed, size_t i) { return (double)seed * 1e6 + (double)i * 0.5; }

static hid_t* file_of(const char* path, bool make) {
  for (int i = 0; i < most_files; ++i) {
    if (files[i].path && !strcmp(files[i].path, path)) return &files[i].id;
    if (!files[i].path && make) {
      files[i].path = strdup(path);
      return &files[i].id;
    }
  }
  fprintf(stderr, "actor: %s was not opened\n", path);
  exit(2);
}

static double* values(size_t count, long seed) {
  double* data = malloc(count * sizeof *data + 1);
  for (size_t i = 0; i < count; ++i) data[i] = value(seed, i);
  return data;
}

static int write_dataset(hid_t file, const char* verb, const char* name, size_t count, long seed) {
  const hsize_t size = count, chunk = count ? count : 1, endless = H5S_UNLIMITED;
  hsize_t begin = 0;
  hid_t dataset, file_space = H5S_ALL, memory_space = H5S_ALL;
  const hid_t properties = H5Pcreate(H5P_DATASET_CREATE);
  if (!strcmp(verb, "rewrite")) {
    dataset = H5Dopen2(file, name, H5P_DEFAULT);
  } else if (!strcmp(verb, "grow")) {
    const bool there = H5Lexists(file, name, H5P_DEFAULT) > 0;
    if (there) {
      dataset = H5Dopen2(file, name, H5P_DEFAULT);
      const hid_t old = H5Dget_space(dataset);
      H5Sget_simple_extent_dims(old, &begin, NULL);
      H5Sclose(old);
    } else {
      H5Pset_chunk(properties, 1, &chunk);
      const hsize_t none = 0;
      const hid_t space = H5Screate_simple(1, &none, &endless);
      dataset =
          H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, properties, H5P_DEFAULT);
      H5Sclose(space);
    }
    const hsize_t all = begin + size;
    if (dataset < 0 || H5Dset_extent(dataset, &all) < 0) return -1;
    file_space = H5Dget_space(dataset);
    H5Sselect_hyperslab(file_space, H5S_SELECT_SET, &begin, NULL, &size, NULL);
    memory_space = H5Screate_simple(1, &size, NULL);
  } else {
    const hid_t space = H5Screate_simple(1, &size, NULL);
    if (!strcmp(verb, "gaps")) {
      H5Pset_alloc_time(properties, H5D_ALLOC_TIME_EARLY);
      H5Pset_fill_time(properties, H5D_FILL_TIME_NEVER);
    }
    dataset =
        H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    H5Sclose(space);
    if (!strcmp(verb, "gaps")) {
      const hsize_t first = 0, stride = 2, half = (size + 1) / 2;
      file_space = H5Dget_space(dataset);
      H5Sselect_hyperslab(file_space, H5S_SELECT_SET, &first, &stride, &half, NULL);
      memory_space = H5Screate_simple(1, &half, NULL);
    }
  }
  H5Pclose(properties);
  if (dataset < 0) return -1;
  double* data = values(count, seed);
  int status = H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory_space, file_space, H5P_DEFAULT, data);
  free(data);
  if (file_space != H5S_ALL) H5Sclose(file_space);
  if (memory_space != H5S_ALL) H5Sclose(memory_space);
  return H5Dclose(dataset) < 0 ? -1 : status;
}

static int check_dataset(hid_t file, const char* name, size_t count, long seed) {
  const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
  if (dataset < 0) return -1;
  const hid_t space = H5Dget_space(dataset);
  const hssize_t there = H5Sget_simple_extent_npoints(space);
  H5Sclose(space);
  int status = there == (hssize_t)count ? 0 : -1;
  double* data = calloc(count + 1, sizeof *data);
  if (!status) status = H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
  for (size_t i = 0; !status && i < count; ++i)
    if (data[i] != value(seed, i)) {
      fprintf(stderr, "actor: %s[%zu] is %.17g, not %.17g\n", name, i, data[i], value(seed, i));
      status = -1;
    }
  free(data);
  H5Dclose(dataset);
  return status;
}

static int attribute(hid_t file, const char* verb, const char* name, long wanted) {
  if (!strcmp(verb, "attr")) {
    const hid_t space = H5Screate(H5S_SCALAR);
    const hid_t made = H5Acreate2(file, name, H5T_NATIVE_LONG, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Sclose(space);
    if (made < 0) return -1;
    const int status = H5Awrite(made, H5T_NATIVE_LONG, &wanted);
    H5Aclose(made);
    return status;
  }
  long found = 0;
  const hid_t opened = H5Aopen(file, name, H5P_DEFAULT);
  if (opened < 0) return -1;
  const int status = H5Aread(opened, H5T_NATIVE_LONG, &found);
  H5Aclose(opened);
  return status < 0 || found != wanted ? -1 : 0;
}

static int hold(size_t bytes) {
  char* memory = malloc(bytes);
  if (!memory) return -1;
  memset(memory, 1, bytes);  // makes the pages the process's own
  return 0;                  // not freed: kept until the end
}

static void nap(long ms) { nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL); }

static int await(const char* path, long ms) {
  for (long waited = 0; waited < ms; waited += 10) {
    if (access(path, F_OK) == 0) return 0;
    nap(10);
  }
  return -1;
}

static int copy_bytes(const char* from, const char* to) {
  char block[65536];
  const int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0666);
  ssize_t got = in < 0 || out < 0 ? -1 : 0;
  while (got >= 0 && (got = read(in, block, sizeof block)) > 0)
    if (write(out, block, (size_t)got) != got) got = -1;
  if (in >= 0) close(in);
  if (out >= 0 && close(out)) got = -1;
  return got < 0 ? -1 : 0;
}

static int remove_one(const char* path, const struct stat* status, int kind, struct FTW* place) {
  (void)status;
  (void)kind;
  (void)place;
  return remove(path);
}

static int child(void) {
  fflush(NULL);
  const pid_t pid = fork();
  if (pid == 0) _exit(0);
  int status = 1;
  return pid < 0 || waitpid(pid, &status, 0) < 0 || status ? -1 : 0;
}

static int act(int count, char** w) {
  const char* verb = w[0];
  const char* a = count > 1 ? w[1] : "";
  const char* b = count > 2 ? w[2] : "";
  const long number = strtol(a, NULL, 10);
  const long third = count > 3 ? strtol(w[3], NULL, 10) : 0,
             fourth = count > 4 ? strtol(w[4], NULL, 10) : 0;
  hid_t id = H5I_INVALID_HID;
  if (!strcmp(verb, "create")) id = H5Fcreate(a, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  if (!strcmp(verb, "excl")) id = H5Fcreate(a, H5F_ACC_EXCL, H5P_DEFAULT, H5P_DEFAULT);
  if (!strcmp(verb, "open")) id = H5Fopen(a, H5F_ACC_RDONLY, H5P_DEFAULT);
  if (!strcmp(verb, "openrw")) id = H5Fopen(a, H5F_ACC_RDWR, H5P_DEFAULT);
  if (!strcmp(verb, "create") || !strcmp(verb, "excl") || !strcmp(verb, "open") ||
      !strcmp(verb, "openrw")) {
    if (id < 0) return -1;
    *file_of(a, true) = id;
    return 0;
  }
  if (!strcmp(verb, "write") || !strcmp(verb, "grow") || !strcmp(verb, "rewrite") ||
      !strcmp(verb, "gaps"))
    return write_dataset(*file_of(a, false), verb, b, (size_t)third, fourth);
  if (!strcmp(verb, "check")) return check_dataset(*file_of(a, false), b, (size_t)third, fourth);
  if (!strcmp(verb, "attr") || !strcmp(verb, "checkattr"))
    return attribute(*file_of(a, false), verb, b, third);
  if (!strcmp(verb, "flush")) return H5Fflush(*file_of(a, false), H5F_SCOPE_GLOBAL);
  if (!strcmp(verb, "close")) return H5Fclose(*file_of(a, false));
  if (!strcmp(verb, "rename")) return rename(a, b);
  if (!strcmp(verb, "unlink")) return unlink(a);
  if (!strcmp(verb, "chmod")) return chmod(a, (mode_t)strtol(b, NULL, 8));
  if (!strcmp(verb, "link")) return link(a, b);
  if (!strcmp(verb, "symlink")) return symlink(a, b);
  if (!strcmp(verb, "mkdir")) return mkdir(a, 0777) && errno != EEXIST ? -1 : 0;
  if (!strcmp(verb, "rmdir")) return rmdir(a);
  if (!strcmp(verb, "rmtree")) return nftw(a, remove_one, 16, FTW_DEPTH | FTW_PHYS);
  if (!strcmp(verb, "exchange"))
    return (int)syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b, 2 /* RENAME_EXCHANGE */);
  if (!strcmp(verb, "chdir")) return chdir(a);
  if (!strcmp(verb, "chroot")) return chroot(a) || chdir("/") ? -1 : 0;
  if (!strcmp(verb, "copy")) return copy_bytes(a, b);
  if (!strcmp(verb, "touch")) return close(open(a, O_WRONLY | O_CREAT, 0666));
  if (!strcmp(verb, "await")) return await(a, count > 2 ? strtol(b, NULL, 10) : 30000);
  if (!strcmp(verb, "sleep")) return nap(number), 0;
  if (!strcmp(verb, "hold")) return hold((size_t)number << 20);
  if (!strcmp(verb, "fork")) return child();
  if (!strcmp(verb, "childless")) return waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD ? 0 : -1;
  if (!strcmp(verb, "exit")) exit((int)number);
  if (!strcmp(verb, "_exit")) _exit((int)number);
  if (!strcmp(verb, "abort")) abort();
  if (!strcmp(verb, "say")) {
    for (int i = 1; i < count; ++i) printf("%s%c", w[i], i + 1 < count ? ' ' : '\n');
    return fflush(stdout);
  }
  fprintf(stderr, "actor: unknown action '%s'\n", verb);
  exit(2);
}

// {rank}, {ranks}, {rank:4}, {rank/4}, {rank/4:2}
static char* expand(const char* text) {
  char* out = calloc(strlen(text) * 8 + 64, 1);
  size_t at = 0;
  while (*text) {
    char key[8];
    long divisor = 1, used = 0, more = 0;
    int width = 1, begin = 0;
    if (*text != '{' || sscanf(text, "{%7[a-z]%n", key, &begin) != 1 ||
        (strcmp(key, "rank") && strcmp(key, "ranks"))) {
      out[at++] = *text++;
      continue;
    }
    used = begin;
    if (text[used] == '/' && sscanf(text + used, "/%ld%ln", &divisor, &more) == 1) used += more;
    if (text[used] == ':' && sscanf(text + used, ":%d%ln", &width, &more) == 1) used += more;
    at += (size_t)sprintf(out + at, "%0*ld", width,
                          (strcmp(key, "rank") ? ranks : rank) / (divisor ? divisor : 1));
    text += used + (text[used] == '}');
  }
  return out;
}

static bool mine(char** text) {  // '@0,2: …'
  if (**text != '@') return true;
  bool found = false;
  char* at = *text + 1;
  do {
    found |= strtol(at, &at, 10) == rank;
  } while (*at++ == ',');
  *text = at;
  return found;
}

static long number_from_launcher(const char* const* names, long otherwise) {
  for (; *names; ++names)
    if (getenv(*names)) return strtol(getenv(*names), NULL, 10);
  return otherwise;
}

int main(int count, char** arguments) {
  static const char* const rank_names[] = {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK",
                                           "SLURM_PROCID", NULL};
  static const char* const size_names[] = {"PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS",
                                           NULL};
  rank = number_from_launcher(rank_names, 0);
  ranks = number_from_launcher(size_names, 1);
  for (int i = 1; i < count; ++i) {
    char* text = expand(arguments[i]);
    char* rest = text;
    if (!mine(&rest)) continue;
    char* words[most_words];
    int used = 0;
    for (char* word = strtok(rest, " "); word && used < most_words; word = strtok(NULL, " "))
      words[used++] = word;
    if (!used) continue;
    const bool must_fail = !strcmp(words[0], "!");
    if (must_fail) H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    const bool failed = act(used - must_fail, words + must_fail) < 0;
    if (must_fail) H5Eset_auto2(H5E_DEFAULT, (H5E_auto2_t)H5Eprint2, stderr);
    if (failed != must_fail) {
      fprintf(stderr, "actor: rank %ld: '%s' %s (%s)\n", rank, arguments[i],
              failed ? "failed" : "did not fail", strerror(errno));
      return 1;
    }
    free(text);
  }
  return 0;
}
