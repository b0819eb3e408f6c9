// SPDX-License-Identifier: BSD-3-Clause
#include "restart/stage/put_back_mark.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <vector>

#include "codecs/base/bytes.hpp"
#include "codecs/base/checksum.hpp"
#include "restart/base/durable_replace.hpp"
#include "restart/base/path_names.hpp"
#include "restart/stage/stub_file.hpp"

namespace mcr::restart {
namespace {

constexpr std::string_view put_back_word = "mcr-back";

}  // namespace

Result<std::uint64_t> mark_put_back(const File& stub, const PartId& part, FileIdentity native) {
  const auto there = read_stub_file(stub);
  std::uint64_t size = MCR_TRY(stub.size());
  if (!there || there->part != part) {
    errno = ESTALE;
    return system_error("cannot mark a file that is not the part's stub any more:", stub.name());
  }
  if (put_back_as(stub)) size -= put_back_mark_bytes;
  Bytes mark;
  Writer out(mark);
  out.bytes(as_bytes(put_back_word));
  out.u64(native.device);
  out.u64(native.inode);
  out.u64(checksum(mark));
  MCR_TRY(stub.write_at(size, mark));
  return size + put_back_mark_bytes;
}

Result<void> unmark_put_back(const File& stub, std::uint64_t marked_size) {
  if (MCR_TRY(stub.size()) != marked_size || !put_back_as(stub)) return {};
  return stub.truncate(marked_size - put_back_mark_bytes);
}

std::optional<FileIdentity> put_back_as(const File& stub) {
  const auto size = stub.size();
  if (!size || *size < put_back_mark_bytes || *size > Stub::max_bytes + put_back_mark_bytes)
    return std::nullopt;
  Bytes mark(put_back_mark_bytes);
  if (!stub.read_at(*size - put_back_mark_bytes, mark)) return std::nullopt;
  Reader in(mark);
  const auto word = in.bytes(put_back_word.size());
  const auto device = in.u64();
  const auto inode = in.u64();
  const auto sum = in.u64();
  const bool is_mark = word && as_text(*word) == put_back_word && sum &&
                       *sum == checksum(ByteSpan(mark).first(put_back_mark_bytes - sizeof *sum));
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

std::optional<File> find_put_back(const File& stub) {
  const auto status = stub.status();
  const auto part = status && status->st_uid == ::geteuid() && put_back_as(stub)
                        ? read_stub_file(stub)
                        : Result<Stub>(Error{});
  if (!part) return std::nullopt;
  // After the exchange the stub has the name of the leader's temporary file, and then none.
  const std::string last = without_deleted_mark(present_path(stub));
  if (name_of(last) != temporary_name(part->part.text())) return std::nullopt;
  const auto home = File::open(AT_FDCWD, parent_of(last), O_PATH | O_DIRECTORY);
  const auto names = home ? list_directory(home->descriptor(), ".")
                          : Result<std::vector<std::string>>(home.error());
  if (!names) return std::nullopt;
  const FileIdentity native = *put_back_as(stub);
  for (const std::string& name : *names) {
    if (leads_to(home->descriptor(), name, native))
      return open_put_back(stub, home->descriptor(), name);
  }
  return std::nullopt;
}

}  // namespace mcr::restart
