// SPDX-License-Identifier: BSD-3-Clause
// The table of system calls in use. All file operations of restart, the driver and the leader go
// through it, so that a test can make any call fail, transfer less than asked, or be the last one
// of the process. Each entry reports errors like the system call of its name, by -1 and errno.
#pragma once

#include <dirent.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/types.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <ctime>

namespace mcr::restart {

struct SystemCalls {
  int (*openat)(int directory, const char* name, int flags, mode_t mode);
  /// openat2 with RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS.
  int (*open_beneath)(int directory, const char* name, int flags, mode_t mode);
  int (*close)(int descriptor);
  ssize_t (*pread)(int descriptor, void* out, std::size_t bytes, off_t offset);
  ssize_t (*pwrite)(int descriptor, const void* data, std::size_t bytes, off_t offset);
  ssize_t (*write)(int descriptor, const void* data, std::size_t bytes);
  int (*ftruncate)(int descriptor, off_t size);
  int (*fallocate)(int descriptor, int mode, off_t offset, off_t bytes);
  int (*fsync)(int descriptor);
  int (*fstat)(int descriptor, struct stat* status);
  int (*fstatat)(int directory, const char* name, struct stat* status, int flags);
  int (*fstatvfs)(int descriptor, struct statvfs* status);
  int (*fchmod)(int descriptor, mode_t mode);
  int (*fchmodat)(int directory, const char* name, mode_t mode, int flags);
  int (*fchown)(int descriptor, uid_t user, gid_t group);
  /// Extended attributes.
  ssize_t (*flistxattr)(int descriptor, char* names, std::size_t bytes);
  ssize_t (*fgetxattr)(int descriptor, const char* name, void* value, std::size_t bytes);
  int (*fsetxattr)(int descriptor, const char* name, const void* value, std::size_t bytes,
                   int flags);
  int (*fremovexattr)(int descriptor, const char* name);
  int (*flock)(int descriptor, int operation);
  /// F_OFD_SETLK of the one byte at `place`: `type` is F_WRLCK or F_UNLCK.
  int (*lock_place)(int descriptor, short type, off_t place);
  int (*renameat)(int from_directory, const char* from, int to_directory, const char* to);
  /// renameat2 with RENAME_NOREPLACE.
  int (*rename_new)(int from_directory, const char* from, int to_directory, const char* to);
  /// renameat2 with RENAME_EXCHANGE.
  int (*rename_exchange)(int from_directory, const char* from, int to_directory, const char* to);
  int (*linkat)(int from_directory, const char* from, int to_directory, const char* to, int flags);
  int (*symlinkat)(const char* target, int directory, const char* name);
  ssize_t (*readlinkat)(int directory, const char* name, char* out, std::size_t bytes);
  int (*unlinkat)(int directory, const char* name, int flags);
  int (*mkdirat)(int directory, const char* name, mode_t mode);
  /// Returns a socket of this machine (AF_UNIX, SOCK_SEQPACKET) that never blocks; close-on-exec.
  int (*local_socket)();
  int (*bind)(int socket, const struct sockaddr* address, socklen_t bytes);
  int (*listen)(int socket, int waiting);
  /// The returned socket never blocks and is closed on exec.
  int (*accept)(int socket);
  int (*connect)(int socket, const struct sockaddr* address, socklen_t bytes);
  ssize_t (*sendmsg)(int socket, const struct msghdr* message, int flags);
  ssize_t (*recvmsg)(int socket, struct msghdr* message, int flags);
  /// Returns a file in memory without a name in any directory; close-on-exec.
  int (*memory_file)();
  DIR* (*fdopendir)(int descriptor);
  ssize_t (*getrandom)(void* out, std::size_t bytes, unsigned flags);
  int (*clock_gettime)(clockid_t clock, struct timespec* time);
};

/// Returns the table with the operating system's own calls.
const SystemCalls& real_system_calls();

namespace detail {
extern std::atomic<const SystemCalls*> system_calls_in_use;
}

/// The table in use.
inline const SystemCalls& system_calls() {
  return *detail::system_calls_in_use.load(std::memory_order_acquire);
}

/// Returns the time of `clock` in nanoseconds.
inline std::uint64_t clock_ns(clockid_t clock) {
  struct timespec now {};
  system_calls().clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

/// Returns when the file was last written; nanoseconds since 1970.
inline std::uint64_t modified_ns(const struct stat& status) {
  return static_cast<std::uint64_t>(status.st_mtim.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(status.st_mtim.tv_nsec);
}

/// Returns when the file was last written, renamed, linked or unlinked; nanoseconds since 1970.
inline std::uint64_t changed_ns(const struct stat& status) {
  return static_cast<std::uint64_t>(status.st_ctim.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(status.st_ctim.tv_nsec);
}

/// True if the error number means that the file, or a directory on the way to it, does not exist.
inline bool means_gone(int number) { return number == ENOENT || number == ENOTDIR; }

/// The same for a path whose last component, if it is a link, is followed or not opened. ELOOP then means that links
/// on the way lead in a circle.
inline bool leads_nowhere(int number) { return means_gone(number) || number == ELOOP; }

/// True if the error number means that a process's way to a path ends for a reason that lies in the path
/// itself: nothing lies there, this user may not go there, or links or "..", which are not followed, do.
inline bool means_no_way(int number) {
  return means_gone(number) || number == EACCES || number == ELOOP || number == EXDEV ||
         number == ENAMETOOLONG;
}
/// True if the error number says nothing about the file: the process or the machine has no descriptors
/// or memory left.
inline bool means_no_resources(int number) {
  return number == EMFILE || number == ENFILE || number == ENOMEM;
}

/// Returns a time for measuring waits: it never goes back.
inline std::uint64_t monotonic_ms() { return clock_ns(CLOCK_MONOTONIC) / 1'000'000; }

/// Replaces the table of system calls while this object lives; `table` must outlive it. For tests.
class ReplacedSystemCalls {
 public:
  explicit ReplacedSystemCalls(const SystemCalls& table)
      : before_(detail::system_calls_in_use.exchange(&table)) {}
  ~ReplacedSystemCalls() { detail::system_calls_in_use.store(before_); }
  ReplacedSystemCalls(const ReplacedSystemCalls&) = delete;
  ReplacedSystemCalls& operator=(const ReplacedSystemCalls&) = delete;

 private:
  const SystemCalls* before_;
};

}  // namespace mcr::restart
