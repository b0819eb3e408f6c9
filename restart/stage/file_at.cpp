// SPDX-License-Identifier: BSD-3-Clause
#include "restart/stage/file_at.hpp"

#include <fcntl.h>

#include <cerrno>
#include <utility>

#include "restart/stage/stub_file.hpp"

namespace mcr::restart {
namespace {

FileAt not_open(const Error& error) {
  FileAt found;
  using Kind = FileAt::Kind;
  found.kind = error.system_error == ENOENT  ? Kind::nothing
               : error.system_error == ELOOP ? Kind::other
                                             : Kind::closed;
  found.error = error;
  return found;
}

}  // namespace

FileAt file_at(int directory, const std::string& path, Links links) {
  const int link = links == Links::followed ? 0 : O_NOFOLLOW;
  // An open of a pipe or device has effects on other processes, so the kind is looked at before.
  const auto there = File::open(directory, path, O_PATH | link);
  if (!there) return not_open(there.error());
  const auto status = there->status();
  if (!status) return not_open(status.error());
  if (!S_ISREG(status->st_mode)) {
    FileAt found;
    found.status = *status;
    found.kind = FileAt::Kind::other;
    return found;
  }
  auto opened = File::open(AT_FDCWD, link_path(there->descriptor()), O_RDONLY | O_NONBLOCK);
  if (!opened && opened.error().system_error == ENOENT)  // /proc is not mounted
    opened = File::open(directory, path, O_RDONLY | O_NONBLOCK | link);
  return file_at(opened ? File(opened->release(), path) : std::move(opened));
}

FileAt file_at(Result<File> file) {
  if (!file) return not_open(file.error());
  const auto status = file->status();
  if (!status) return not_open(status.error());
  FileAt found;
  found.file = *std::move(file);
  found.status = *status;
  found.kind = S_ISREG(status->st_mode) ? FileAt::Kind::plain_file : FileAt::Kind::other;
  if (found.kind == FileAt::Kind::other) return found;
  const auto begins_as = begins_as_stub(found.file);
  if (!begins_as) return not_open(begins_as.error());
  if (!*begins_as) return found;
  auto stub = read_stub_file(found.file);
  if (!stub && stub.error().cause == Cause::system) return not_open(stub.error());
  found.kind = stub ? FileAt::Kind::stub : FileAt::Kind::damaged_stub;
  if (stub) {
    found.stub = *std::move(stub);
  } else {
    found.error = stub.error();
  }
  return found;
}

}  // namespace mcr::restart
