// SPDX-License-Identifier: BSD-3-Clause
#include "restart/stage/stub_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "restart/base/birth_time.hpp"
#include "restart/base/path_names.hpp"
#include "restart/stage/put_back_mark.hpp"

namespace mcr::restart {

Result<bool> begins_as_stub(const File& file) {
  const int flags = ::fcntl(file.descriptor(), F_GETFL);
  file.leave_access_time();
  std::array<std::byte, Stub::head_bytes> head;
  const auto got = file.read_some_at(0, head);
  const bool is_stub = got && looks_like_stub(ByteSpan(head).first(*got));
  // If the file is no stub, restore the flags: reads of the program's own files must update the
  // access time.
  if (!is_stub && flags >= 0) (void)::fcntl(file.descriptor(), F_SETFL, flags);
  if (!got) return got.error();
  return is_stub;
}

bool is_stub_file(const File& file) { return begins_as_stub(file).value_or(false); }

Result<Stub> read_stub_file(const File& file) {
  file.leave_access_time();
  Stub stub = MCR_TRY(read_stub(MCR_TRY(file.read_all(Stub::max_bytes + put_back_mark_bytes))));
  const struct stat status = MCR_TRY(file.status());
  stub.origin = {status.st_uid, FileIdentity(status)};
  return stub;
}

Result<void> write_stub_file(const File& file, const Stub& stub) {
  MCR_TRY(file.write_at(0, write_stub(stub)));
  const auto status = file.status();
  if (!status) return {};
  struct timespec times[2] = {status->st_mtim, {0, UTIME_OMIT}};
  times[0].tv_sec -= 1;
  (void)::futimens(file.descriptor(), times);
  return {};
}

bool is_begun_in(const PartBegin& begin, const File& directory) {
  const auto status = directory.status();
  if (!status) return false;
  if (begin.directory_inode == 0) return true;  // not known
  const FileIdentity begun{begin.directory_device, begin.directory_inode};
  return FileIdentity(*status) == begun && !was_made_after(directory, begin.begin_for_files_ns());
}

bool is_begun_below(const PartBegin& begin, const File& directory) {
  if (begin.above.empty() || is_begun_in(begin, directory)) return true;
  const auto status = directory.status();
  return status && !was_made_after(directory, begin.begin_for_files_ns()) &&
         std::find(begin.above.begin(), begin.above.end(), FileIdentity(*status)) !=
             begin.above.end();
}

bool is_begun_file(const PartBegin& begin, const std::string& path, const struct stat& status) {
  if (begin.file_inode != 0) return begin.file_inode == status.st_ino;
  if (begin.path == path) return true;
  struct stat there {};
  return ::lstat(begin.path.c_str(), &there) == 0 && FileIdentity(there) == FileIdentity(status);
}

Result<File> open_begun_in(const PartBegin& begin, int flags) {
  const std::string path = parent_of(begin.path);
  File directory = MCR_TRY(File::open(AT_FDCWD, path, flags | O_DIRECTORY));
  if (is_begun_in(begin, directory)) return directory;
  errno = ESTALE;
  return system_error("another process replaced the directory", path);
}

bool is_of_same_path(const Stub& stub, const PartBegin& begin) {
  return stub.launch == begin.launch && stub.path == begin.path && stub.rank == begin.rank;
}

Stub stub_of(const PartBegin& begin, std::string container_directory,
             std::string launch_directory) {
  Stub stub;
  stub.part = begin.part;
  stub.launch = begin.launch;
  stub.sequence = begin.sequence;
  stub.rank = begin.rank;
  stub.rank_count = begin.rank_count;
  stub.node = begin.node;
  stub.masked_names = begin.masked_names;
  stub.container_directory = std::move(container_directory);
  stub.launch_directory = std::move(launch_directory);
  stub.path = begin.path;
  return stub;
}

}  // namespace mcr::restart
