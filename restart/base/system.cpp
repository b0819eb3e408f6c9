// SPDX-License-Identifier: BSD-3-Clause
#include "restart/base/system.hpp"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#ifdef SYS_openat2
#include <linux/openat2.h>
#endif

namespace mcr::restart {
namespace {

// openat() is variadic, so its address does not have the table's pointer type.
int open_with_mode(int directory, const char* name, int flags, mode_t mode) {
  return ::openat(directory, name, flags, mode);
}

int open_below(int directory, const char* name, int flags, mode_t mode) {
#ifdef SYS_openat2
  struct open_how how {};
  how.flags = static_cast<std::uint64_t>(static_cast<unsigned>(flags));
  how.mode = (flags & O_CREAT) != 0 ? mode : 0;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
  return static_cast<int>(::syscall(SYS_openat2, directory, name, &how, sizeof how));
#else
  (void)directory, (void)name, (void)flags, (void)mode;
  errno = ENOSYS;
  return -1;
#endif
}

// Called by its number, because an old C library lacks renameat2().
int rename_without_replacing(int from_directory, const char* from, int to_directory,
                             const char* to) {
  return static_cast<int>(
      ::syscall(SYS_renameat2, from_directory, from, to_directory, to, RENAME_NOREPLACE));
}

int rename_each_other(int from_directory, const char* from, int to_directory, const char* to) {
  return static_cast<int>(
      ::syscall(SYS_renameat2, from_directory, from, to_directory, to, RENAME_EXCHANGE));
}

// fstat and similar calls are macros or aliases in some C libraries.
int status_of(int descriptor, struct stat* status) { return ::fstat(descriptor, status); }
int status_at(int directory, const char* name, struct stat* status, int flags) {
  return ::fstatat(directory, name, status, flags);
}

int lock_one_byte(int descriptor, short type, off_t place) {
  struct flock lock {};  // l_pid must be 0
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = place;
  lock.l_len = 1;
  return ::fcntl(descriptor, F_OFD_SETLK, &lock);
}

// glibc declares the address parameter of these two calls as a transparent union.
int bind_socket(int socket, const struct sockaddr* address, socklen_t bytes) {
  return ::bind(socket, address, bytes);
}
int connect_socket(int socket, const struct sockaddr* address, socklen_t bytes) {
  return ::connect(socket, address, bytes);
}

constexpr SystemCalls real_calls = {
    .openat = open_with_mode,
    .open_beneath = open_below,
    .close = ::close,
    .pread = ::pread,
    .pwrite = ::pwrite,
    .write = ::write,
    .ftruncate = ::ftruncate,
    .fallocate = ::fallocate,
    .fsync = ::fsync,
    .fstat = status_of,
    .fstatat = status_at,
    .fstatvfs = ::fstatvfs,
    .fchmod = ::fchmod,
    .fchmodat = ::fchmodat,
    .fchown = ::fchown,
    .flistxattr = ::flistxattr,
    .fgetxattr = ::fgetxattr,
    .fsetxattr = ::fsetxattr,
    .fremovexattr = ::fremovexattr,
    .flock = ::flock,
    .lock_place = lock_one_byte,
    .renameat = ::renameat,
    .rename_new = rename_without_replacing,
    .rename_exchange = rename_each_other,
    .linkat = ::linkat,
    .symlinkat = ::symlinkat,
    .readlinkat = ::readlinkat,
    .unlinkat = ::unlinkat,
    .mkdirat = ::mkdirat,
    .local_socket =
        [] { return ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0); },
    .bind = bind_socket,
    .listen = ::listen,
    .accept =
        [](int socket) {
          return ::accept4(socket, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
        },
    .connect = connect_socket,
    .sendmsg = ::sendmsg,
    .recvmsg = ::recvmsg,
    .memory_file =
        [] { return static_cast<int>(::syscall(SYS_memfd_create, "mcr-part", MFD_CLOEXEC)); },
    .fdopendir = ::fdopendir,
    .getrandom = ::getrandom,
    .clock_gettime = ::clock_gettime,
};

}  // namespace

constinit std::atomic<const SystemCalls*> detail::system_calls_in_use{&real_calls};

const SystemCalls& real_system_calls() { return real_calls; }

}  // namespace mcr::restart
