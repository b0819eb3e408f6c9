// SPDX-License-Identifier: BSD-3-Clause
#include "vol/driver/open_path.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "vol/driver/native_backend.hpp"

namespace mcr::vol {

namespace {

Error refused() { return Error{Cause::system, {}, errno}; }

}  // namespace

Result<std::unique_ptr<Backend>> open_path(const OpenRequest& request) {
  int flags = request.writable ? O_RDWR : O_RDONLY;
  if (request.truncate) flags |= O_TRUNC;
  if (request.create) flags |= O_CREAT;
  if (request.exclusive) flags |= O_EXCL;
  auto opened = restart::File::open(AT_FDCWD, request.name, flags, 0666);
  if (!opened) return refused();
  const struct stat status = MCR_TRY(opened->status());
  return std::unique_ptr<Backend>(std::make_unique<NativeBackend>(
      std::move(*opened), FileIdentity{status.st_dev, status.st_ino},
      static_cast<std::uint64_t>(status.st_size), request.ignore_disabled_locks));
}

}  // namespace mcr::vol
