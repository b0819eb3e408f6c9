// SPDX-License-Identifier: BSD-3-Clause
#include "restart/stage/stub_file.hpp"

#include <fcntl.h>

#include <array>
#include <cerrno>
#include <utility>

#include "codecs/base/bytes.hpp"
#include "codecs/base/checksum.hpp"
#include "restart/base/path_names.hpp"

namespace mcr::restart {
namespace {

constexpr std::string_view put_back_word = "mcr-back";
/// Layout: the word, device and inode (8 bytes each, little-endian), then the XXH3-64 of these.
constexpr std::size_t put_back_bytes = 32;

}  // namespace

bool is_stub_file(const File& file) {
  const int flags = ::fcntl(file.descriptor(), F_GETFL);
  file.leave_access_time();
  std::array<std::byte, Stub::head_bytes> head;
  const auto got = file.read_some_at(0, head);
  const bool is_stub = got && looks_like_stub(ByteSpan(head).first(*got));
  // Not a stub: restore the flags, so that reads of the program's own files update the access time
  // again.
  if (!is_stub && flags >= 0) (void)::fcntl(file.descriptor(), F_SETFL, flags);
  return is_stub;
}

Result<Stub> read_stub_file(const File& file) {
  file.leave_access_time();
  Stub stub = MCR_TRY(read_stub(MCR_TRY(file.read_all(Stub::max_bytes + put_back_bytes))));
  const struct stat status = MCR_TRY(file.status());
  stub.origin = {status.st_uid, FileIdentity(status)};
  return stub;
}

Result<std::uint64_t> mark_put_back(const File& stub, const PartId& part, FileIdentity native) {
  const auto there = read_stub_file(stub);
  std::uint64_t size = MCR_TRY(stub.size());
  if (!there || there->part != part) {
    errno = ESTALE;
    return system_error("is not the stub any more:", stub.name());
  }
  if (put_back_as(stub)) size -= put_back_bytes;
  Bytes mark;
  Writer out(mark);
  out.bytes(as_bytes(put_back_word));
  out.u64(native.device);
  out.u64(native.inode);
  out.u64(checksum(mark));
  MCR_TRY(stub.write_at(size, mark));
  return size + put_back_bytes;
}

Result<void> unmark_put_back(const File& stub, std::uint64_t marked_size) {
  if (MCR_TRY(stub.size()) != marked_size || !put_back_as(stub)) return {};
  return stub.truncate(marked_size - put_back_bytes);
}

std::optional<FileIdentity> put_back_as(const File& stub) {
  const auto size = stub.size();
  if (!size || *size < put_back_bytes || *size > Stub::max_bytes + put_back_bytes)
    return std::nullopt;
  Bytes mark(put_back_bytes);
  if (!stub.read_at(*size - put_back_bytes, mark)) return std::nullopt;
  Reader in(mark);
  const auto word = in.bytes(put_back_word.size());
  const auto device = in.u64();
  const auto inode = in.u64();
  const auto sum = in.u64();
  const bool is_mark = word && as_text(*word) == put_back_word && sum &&
                       *sum == checksum(ByteSpan(mark).first(put_back_bytes - sizeof *sum));
  return is_mark ? std::optional(FileIdentity{*device, *inode}) : std::nullopt;
}

std::optional<File> open_put_back(const File& stub, int directory, const std::string& name) {
  const auto native = put_back_as(stub);
  if (!native) return std::nullopt;
  auto file = File::open(directory, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK);
  const auto status = file ? file->status() : Result<struct stat>(file.error());
  if (!status || FileIdentity(*status) != *native) return std::nullopt;
  return *std::move(file);
}

Result<File> open_begun_in(const PartBegin& begin, int flags) {
  const std::string path = parent_of(begin.path);
  File directory = MCR_TRY(File::open(AT_FDCWD, path, flags | O_DIRECTORY));
  const FileIdentity begun{begin.directory_device, begin.directory_inode};
  const bool is_known = begin.directory_inode != 0;
  if (!is_known || FileIdentity(MCR_TRY(directory.status())) == begun) return directory;
  errno = ESTALE;
  return system_error("another directory is now at", path);
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
