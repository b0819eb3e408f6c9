// SPDX-License-Identifier: BSD-3-Clause
#include "restart/container/own_file.hpp"

#include <fcntl.h>

#include "codecs/base/checksum.hpp"
#include "restart/base/birth_time.hpp"
#include "restart/base/system.hpp"
#include "restart/format/container_name.hpp"

namespace mcr::restart {
namespace {

constexpr std::size_t most_looks = 256;

FileMark mark_of(const File& container, const struct stat& status) {
  return {status.st_ino, birth_time_of(container), handle_of(container), 0};
}

}  // namespace

Result<std::uint64_t> mark_own_file(const File& container, std::uint64_t since_ns) {
  FileMark mark = mark_of(container, MCR_TRY(container.status()));
  mark.since_ns = since_ns != 0 ? since_ns : mark.born_ns;
  MCR_TRY(container.write_at(FileMark::offset, write_file_mark(mark)));
  return mark.since_ns;
}

FileOrigin origin_of(ByteSpan head, const File& container, const struct stat& status) {
  const FileMark written = read_file_mark(head);
  const FileMark here = mark_of(container, status);
  const bool is_same = written.inode == here.inode && written.born_ns == here.born_ns &&
                       written.handle == here.handle;
  if (here.born_ns == 0) return {};
  return {!is_same, here.born_ns, is_same ? written.since_ns : 0};
}

std::uint64_t written_since(const File& directory) {
  if (birth_time_of(directory) == 0) return 0;
  const auto names = list_directory(directory.descriptor(), ".");
  if (!names) return 0;
  std::size_t looks = 0;
  for (const std::string& name : *names) {
    if (!is_container_name(name) || ++looks > most_looks) continue;
    const auto file = File::open(directory.descriptor(), name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const auto status = file ? file->status() : Result<struct stat>(file.error());
    Bytes head(UserBlock::bytes);
    if (!status || !file->read_at(0, head)) continue;
    if (const FileOrigin origin = origin_of(head, *file, *status); origin.since_ns != 0)
      return origin.since_ns;
  }
  return 0;
}

}  // namespace mcr::restart
