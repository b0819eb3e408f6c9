// SPDX-License-Identifier: BSD-3-Clause
// LD_PRELOAD: makes one call to the operating system misbehave, among all calls that concern the
// given directories. Preloading reaches the calls of HDF5 and of the C++ library too, which
// replacing system_calls() (restart/base/system.hpp) would not. It also tests the same plugin and
// leader that users run.
//
//   MCR_FAULT_ROOTS=STAGE:STORAGE  directories whose calls count; the second is storage
//   MCR_FAULT_AT=K                 number of the call that misbehaves, from 0. Not set: calls
//                                  are only reported
//   MCR_FAULT_ONLY=TEXT            only calls whose path contains TEXT count
//   MCR_FAULT_KIND=… an errno's name: it fails with that; with a + behind it: it and
//                                  all later ones that concern storage (ENOSPC+: and take room)
//                                  short: transfers half; stop: the process is killed before it;
//                                  tear: killed after half of a transfer; stall+: it and all later
//                                  ones that concern storage wait until MCR_FAULT_GATE is gone;
//                                  slow+: each of them takes 5 ms as long as MCR_FAULT_GATE is there
//   MCR_FAULT_IN_CHILDREN=1        forked processes count too; a leader detaches itself by forks
//   MCR_FAULT_REPORT=FILE          one line for each: number, call, path
//   MCR_FAULT_UNSYNCED=DIR         there is kept what storage holds if it loses all that was not
//                                  synced: synced.INODE, the content of files when they were synced;
//                                  log, what happened to names, with what they named before
// Both names of each function are defined here, so neither may stand for the other.
#undef _FILE_OFFSET_BITS
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../support/opens.h"

enum { path_bytes = 4096 };
typedef enum { go_on, fail, half } Order;

static long (*raw)(long, ...);
static atomic_long calls;
static atomic_int victims;
static long at = LONG_MAX;
static char kind[32], stage[path_bytes], storage[path_bytes];
static const char *gate, *only, *unsynced;
static int number_of_error, report = -1, log_file = -1;
static bool lasting;
static long owner;
static bool in_children;

static const struct {
  const char* name;
  int number;
} errors[] = {{"ENOSPC", ENOSPC}, {"EDQUOT", EDQUOT}, {"EIO", EIO}, {"EINTR", EINTR}};

static int open_for_us(const char* path, int flags) {
  return (int)raw(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, 0600);
}

__attribute__((constructor)) static void begin(void) {
  if (raw) return;
  *(void**)&raw = dlsym(RTLD_NEXT, "syscall");
  const char* roots = getenv("MCR_FAULT_ROOTS");
  const char* colon = roots ? strchr(roots, ':') : NULL;
  if (!colon) return;
  snprintf(stage, sizeof stage, "%.*s", (int)(colon - roots), roots);
  snprintf(storage, sizeof storage, "%s", colon + 1);
  if (getenv("MCR_FAULT_AT")) at = atol(getenv("MCR_FAULT_AT"));
  snprintf(kind, sizeof kind, "%s", getenv("MCR_FAULT_KIND") ? getenv("MCR_FAULT_KIND") : "");
  const size_t length = strlen(kind);
  if (length && kind[length - 1] == '+') {
    lasting = true;
    kind[length - 1] = 0;
  }
  for (size_t i = 0; i < sizeof errors / sizeof *errors; ++i)
    if (!strcmp(kind, errors[i].name)) number_of_error = errors[i].number;
  gate = getenv("MCR_FAULT_GATE");
  in_children = getenv("MCR_FAULT_IN_CHILDREN") != NULL;
  only = getenv("MCR_FAULT_ONLY");
  unsynced = getenv("MCR_FAULT_UNSYNCED");
  if (getenv("MCR_FAULT_REPORT"))
    report = open_for_us(getenv("MCR_FAULT_REPORT"), O_WRONLY | O_CREAT | O_APPEND);
  if (unsynced) {
    char path[path_bytes + 8];
    snprintf(path, sizeof path, "%s/log", unsynced);
    log_file = open_for_us(path, O_WRONLY | O_CREAT | O_APPEND);
  }
  owner = raw(SYS_getpid);
}

// --- which call is it -----------------------------------------------------------------------------

static bool is_below(const char* path, const char* root) {
  const size_t length = strlen(root);
  return length && !strncmp(path, root, length) && (path[length] == '/' || !path[length]);
}

static void path_of(int descriptor, char* out) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const long length = raw(SYS_readlinkat, AT_FDCWD,
                          descriptor == AT_FDCWD ? "/proc/self/cwd" : link, out, path_bytes - 1);
  out[length > 0 ? length : 0] = 0;
}

static void path_at(int directory, const char* name, char* out) {
  out[0] = 0;
  if (!name) return;
  if (name[0] != '/') path_of(directory, out);
  const size_t length = strlen(out);
  snprintf(out + length, path_bytes - length, "%s%s", name[0] == '/' ? "" : "/", name);
}

static void die(void) {
  raw(SYS_kill, raw(SYS_getpid), SIGKILL);
  for (;;) raw(SYS_pause);
}

static Order meet(const char* call, const char* path, bool takes_room) {
  if (!raw) begin();
  if (!owner || (!in_children && raw(SYS_getpid) != owner)) return go_on;
  const bool is_storage = is_below(path, storage);
  if (!is_storage && !is_below(path, stage)) return go_on;
  if (only && !strstr(path, only)) return go_on;
  const int before = errno;
  const long mine = atomic_fetch_add(&calls, 1);
  if (report >= 0) {
    char line[path_bytes + 64];
    const int length = snprintf(line, sizeof line, "%ld\t%s\t%s\n", mine, call, path);
    raw(SYS_write, report, line, length);
  }
  errno = before;
  const bool concerned = is_storage && (takes_room || number_of_error != ENOSPC);
  if (mine < at || (lasting ? !concerned : mine > at)) return go_on;
  if (!strcmp(kind, "stop")) die();
  if (!strcmp(kind, "short") || !strcmp(kind, "tear")) return half;
  if (!strcmp(kind, "stall")) {
    while (gate && raw(SYS_faccessat, AT_FDCWD, gate, F_OK) == 0)
      raw(SYS_nanosleep, &(struct timespec){0, 5000000}, NULL);
    errno = before;
    return go_on;
  }
  if (!strcmp(kind, "slow")) {
    if (gate && raw(SYS_faccessat, AT_FDCWD, gate, F_OK) == 0)
      raw(SYS_nanosleep, &(struct timespec){0, 5000000}, NULL);
    errno = before;
    return go_on;
  }
  errno = number_of_error;
  return number_of_error ? fail : go_on;
}

// --- what storage would hold without what was not synced -------------------------------------------

static void note(const char* what, const char* path, const char* more, const char* yet_more) {
  if (log_file < 0) return;
  char line[3 * path_bytes];
  const int length = snprintf(line, sizeof line, "%s\t%s\t%s\t%s\n", what, path, more, yet_more);
  raw(SYS_write, log_file, line, length);
}

static bool keeps(const char* path) {
  return log_file >= 0 && raw(SYS_getpid) == owner && is_below(path, storage);
}

/// Copies the open file `in` to the path `to`, and closes `in`. If `in` is negative, the copy is empty.
/// The copy gets its name last, because another thread may stop the process at any moment.
static void copy_for_us(int in, const char* to) {
  char half_done[path_bytes];
  snprintf(half_done, sizeof half_done, "%s/half.%ld", unsynced, raw(SYS_gettid));
  const int out = open_for_us(half_done, O_WRONLY | O_CREAT | O_TRUNC);
  char block[16384];
  long got;
  while (in >= 0 && (got = raw(SYS_read, in, block, sizeof block)) > 0)
    raw(SYS_write, out, block, got);
  struct stat status = {0};
  if (in >= 0 && raw(SYS_newfstatat, in, "", &status, AT_EMPTY_PATH) == 0)
    raw(SYS_fchmod, out, status.st_mode & 07777);
  // Keeps the file's times, by which the leader knows that it was not written since.
  if (in >= 0)
    raw(SYS_utimensat, out, NULL, (struct timespec[2]){status.st_atim, status.st_mtim}, 0);
  raw(SYS_close, in);
  raw(SYS_close, out);
  raw(SYS_renameat2, AT_FDCWD, half_done, AT_FDCWD, to, 0);
}

static bool look(const char* path, struct stat* status) {
  return raw(SYS_newfstatat, AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW) == 0;
}

/// What is there now counts as what storage has.
static void keep_content(int descriptor, bool only_if_unknown, bool empty) {
  struct stat status, known;
  char name[path_bytes], from[64];
  if (raw(SYS_newfstatat, descriptor, "", &status, AT_EMPTY_PATH) || !S_ISREG(status.st_mode))
    return;
  snprintf(name, sizeof name, "%s/synced.%lu", unsynced, (unsigned long)status.st_ino);
  if (only_if_unknown && look(name, &known)) return;
  snprintf(from, sizeof from, "/proc/self/fd/%d", descriptor);
  copy_for_us(empty ? -1 : open_for_us(from, O_RDONLY), name);
}

/// What a name leads to before it leads elsewhere: "-", or a copy's name.
static void keep_victim(const char* path, char* copy) {
  struct stat status;
  strcpy(copy, "-");
  if (!look(path, &status) || !S_ISREG(status.st_mode)) return;
  snprintf(copy, path_bytes, "%s/victim.%d", unsynced, atomic_fetch_add(&victims, 1));
  copy_for_us(open_for_us(path, O_RDONLY | O_NONBLOCK), copy);
}

// --- the calls ------------------------------------------------------------------------------------

static int open_at(int directory, const char* name, int flags, mode_t mode) {
  char path[path_bytes];
  if (!raw) begin();
  path_at(directory, name, path);
  const bool makes = (flags & O_CREAT) != 0;
  if (meet(makes ? "create" : "open", path, makes) == fail) return -1;
  struct stat status;
  const bool keeping = keeps(path);
  const bool was_there = keeping && look(path, &status);
  if (keeping && was_there && (flags & O_TRUNC)) {
    const int there = open_for_us(path, O_RDONLY | O_NONBLOCK);
    keep_content(there, true, false);
    raw(SYS_close, there);
  }
  const int opened = (int)raw(SYS_openat, directory, name, flags, mode);
  if (opened >= 0 && keeping && makes && !was_there) {
    const int before = errno;
    keep_content(opened, false, true);
    note("create", path, "-", "-");
    errno = before;
  }
  return opened;
}

int close(int descriptor) {
  char path[path_bytes];
  if (!raw) begin();
  path_of(descriptor, path);
  const Order order = meet("close", path, false);
  const int number = errno;
  const int answer = (int)raw(SYS_close, descriptor);
  if (order != fail) return answer;
  errno = number;  // the descriptor is closed in spite of the error
  return -1;
}

/// A transfer: `direct` is the call of that name.
static ssize_t transfer(const char* call, long direct, int descriptor, void* data, size_t bytes,
                        off_t offset, bool writes) {
  char path[path_bytes];
  if (!raw) begin();
  path_of(descriptor, path);
  const Order order = meet(call, path, writes);
  if (order == fail) return -1;
  if (writes && keeps(path)) keep_content(descriptor, true, false);
  if (order == half && bytes > 1) bytes /= 2;
  const ssize_t done = raw(direct, descriptor, data, bytes, offset);
  if (order == half && !strcmp(kind, "tear")) die();
  return done;
}
ssize_t read(int descriptor, void* out, size_t bytes) {
  return transfer("read", SYS_read, descriptor, out, bytes, 0, false);
}
ssize_t write(int descriptor, const void* data, size_t bytes) {
  return transfer("write", SYS_write, descriptor, (void*)data, bytes, 0, true);
}
ssize_t pread(int descriptor, void* out, size_t bytes, off_t offset) {
  return transfer("pread", SYS_pread64, descriptor, out, bytes, offset, false);
}
ssize_t pread64(int descriptor, void* out, size_t bytes, off_t offset) {
  return transfer("pread", SYS_pread64, descriptor, out, bytes, offset, false);
}
ssize_t pwrite(int descriptor, const void* data, size_t bytes, off_t offset) {
  return transfer("pwrite", SYS_pwrite64, descriptor, (void*)data, bytes, offset, true);
}
ssize_t pwrite64(int descriptor, const void* data, size_t bytes, off_t offset) {
  return transfer("pwrite", SYS_pwrite64, descriptor, (void*)data, bytes, offset, true);
}

/// Calls upon a descriptor that answer 0 or -1.
#define UPON(call, descriptor, room, doing)                         \
  char path[path_bytes];                                            \
  if (!raw) begin();                                                \
  path_of(descriptor, path);                                        \
  if (meet(call, path, room) == fail) return -1;                    \
  if ((room) && keeps(path)) keep_content(descriptor, true, false); \
  return (int)(doing);

int ftruncate(int f, off_t size) { UPON("ftruncate", f, true, raw(SYS_ftruncate, f, size)) }
int ftruncate64(int f, off_t size) { UPON("ftruncate", f, true, raw(SYS_ftruncate, f, size)) }
int fallocate(int f, int mode, off_t begins, off_t bytes) {
  UPON("fallocate", f, true, raw(SYS_fallocate, f, mode, begins, bytes))
}
int fallocate64(int f, int mode, off_t begins, off_t bytes) {
  UPON("fallocate", f, true, raw(SYS_fallocate, f, mode, begins, bytes))
}
int fchmod(int f, mode_t mode) { UPON("fchmod", f, false, raw(SYS_fchmod, f, mode)) }
int fchown(int f, uid_t user, gid_t group) {
  UPON("fchown", f, false, raw(SYS_fchown, f, user, group))
}
int flock(int f, int operation) { UPON("flock", f, false, raw(SYS_flock, f, operation)) }
int fstat(int f, struct stat* s) {
  UPON("fstat", f, false, raw(SYS_newfstatat, f, "", s, AT_EMPTY_PATH))
}
int fstat64(int f, struct stat64* s) {
  UPON("fstat", f, false, raw(SYS_newfstatat, f, "", s, AT_EMPTY_PATH))
}

static int sync_file(int descriptor) {
  char path[path_bytes];
  if (!raw) begin();
  path_of(descriptor, path);
  if (meet("fsync", path, true) == fail) return -1;
  const int answer = (int)raw(SYS_fsync, descriptor);
  struct stat status;
  if (answer == 0 && keeps(path) && look(path, &status)) {
    if (S_ISDIR(status.st_mode)) note("syncdir", path, "-", "-");
    keep_content(descriptor, false, false);
  }
  return answer;
}
int fsync(int descriptor) { return sync_file(descriptor); }
int fdatasync(int descriptor) { return sync_file(descriptor); }

static int status_at(int directory, const char* name, void* status, int flags) {
  char path[path_bytes];
  if (!raw) begin();
  path_at(directory, name, path);
  if (meet("stat", path, false) == fail) return -1;
  return (int)raw(SYS_newfstatat, directory, name, status, flags);
}
int stat(const char* name, struct stat* s) { return status_at(AT_FDCWD, name, s, 0); }
int stat64(const char* name, struct stat64* s) { return status_at(AT_FDCWD, name, s, 0); }
int lstat(const char* name, struct stat* s) {
  return status_at(AT_FDCWD, name, s, AT_SYMLINK_NOFOLLOW);
}
int lstat64(const char* name, struct stat64* s) {
  return status_at(AT_FDCWD, name, s, AT_SYMLINK_NOFOLLOW);
}
int fstatat(int d, const char* name, struct stat* s, int flags) {
  return status_at(d, name, s, flags);
}
int fstatat64(int d, const char* name, struct stat64* s, int flags) {
  return status_at(d, name, s, flags);
}
int access(const char* name, int mode) {
  char path[path_bytes];
  if (!raw) begin();
  path_at(AT_FDCWD, name, path);
  if (meet("access", path, false) == fail) return -1;
  return (int)raw(SYS_faccessat, AT_FDCWD, name, mode);
}

static int rename_at(int from_directory, const char* from, int to_directory, const char* to,
                     unsigned flags) {
  char source[path_bytes], target[path_bytes], victim[path_bytes] = "-";
  if (!raw) begin();
  path_at(from_directory, from, source);
  path_at(to_directory, to, target);
  if (meet("rename", target, true) == fail) return -1;
  const bool keeping = keeps(target);
  if (keeping) keep_victim(target, victim);
  const int answer = (int)raw(SYS_renameat2, from_directory, from, to_directory, to, flags);
  if (answer == 0 && keeping) note("rename", target, victim, source);
  return answer;
}
int rename(const char* from, const char* to) { return rename_at(AT_FDCWD, from, AT_FDCWD, to, 0); }
int renameat(int a, const char* from, int b, const char* to) {
  return rename_at(a, from, b, to, 0);
}

int linkat(int from_directory, const char* from, int to_directory, const char* to, int flags) {
  char target[path_bytes];
  if (!raw) begin();
  path_at(to_directory, to, target);
  if (meet("link", target, true) == fail) return -1;
  const int answer = (int)raw(SYS_linkat, from_directory, from, to_directory, to, flags);
  if (answer == 0 && keeps(target)) note("create", target, "-", "-");
  return answer;
}

static int unlink_at(int directory, const char* name, int flags) {
  char path[path_bytes], victim[path_bytes] = "-";
  if (!raw) begin();
  path_at(directory, name, path);
  if (meet("unlink", path, false) == fail) return -1;
  const bool keeping = keeps(path);
  if (keeping) keep_victim(path, victim);
  const int answer = (int)raw(SYS_unlinkat, directory, name, flags);
  if (answer == 0 && keeping) note("unlink", path, victim, "-");
  return answer;
}
int unlink(const char* name) { return unlink_at(AT_FDCWD, name, 0); }
int unlinkat(int directory, const char* name, int flags) {
  return unlink_at(directory, name, flags);
}

static int make_directory(int directory, const char* name, mode_t mode) {
  char path[path_bytes];
  if (!raw) begin();
  path_at(directory, name, path);
  if (meet("mkdir", path, true) == fail) return -1;
  const int answer = (int)raw(SYS_mkdirat, directory, name, mode);
  if (answer == 0 && keeps(path)) note("mkdir", path, "-", "-");
  return answer;
}
int mkdir(const char* name, mode_t mode) { return make_directory(AT_FDCWD, name, mode); }
int mkdirat(int directory, const char* name, mode_t mode) {
  return make_directory(directory, name, mode);
}

DIR* fdopendir(int descriptor) {
  static DIR* (*next)(int);
  char path[path_bytes];
  if (!raw) begin();
  if (!next) *(void**)&next = dlsym(RTLD_NEXT, "fdopendir");
  path_of(descriptor, path);
  return meet("fdopendir", path, false) == fail ? NULL : next(descriptor);
}

/// Calls that some C libraries have no function for.
long syscall(long number, ...) {
  va_list arguments;
  va_start(arguments, number);
  long a[6];
  for (int i = 0; i < 6; ++i) a[i] = va_arg(arguments, long);
  va_end(arguments);
  if (!raw) begin();
  if (number == SYS_renameat2)
    return rename_at((int)a[0], (const char*)a[1], (int)a[2], (const char*)a[3], (unsigned)a[4]);
  if (number == SYS_memfd_create && meet("memory_file", stage, true) == fail) return -1;
  return raw(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
