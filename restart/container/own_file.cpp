// SPDX-License-Identifier: BSD-3-Clause
#include "restart/container/own_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "codecs/base/checksum.hpp"
#include "restart/base/birth_time.hpp"
#include "restart/base/system.hpp"
#include "restart/base/trust.hpp"
#include "restart/format/container_name.hpp"

namespace mcr::restart {
namespace {

/// The first original ends the look, so only directories full of copies cost many.
constexpr std::size_t most_looks = 1024;

}  // namespace

Result<std::uint64_t> mark_own_file(const File& container, std::uint64_t since_ns) {
  FileMark mark{MCR_TRY(container.status()).st_ino, birth_time_of(container), handle_of(container),
                since_ns};
  mark.since_ns = since_ns != 0 ? since_ns : mark.born_ns;
  MCR_TRY(container.write_at(FileMark::offset, write_file_mark(mark)));
  return mark.since_ns;
}

FileOrigin origin_of(ByteSpan head, const File& container, const struct stat& status) {
  const std::uint64_t born_ns = birth_time_of(container);
  if (born_ns == 0) return {};
  const FileMark written = read_file_mark(head);
  const bool is_same = written.inode == status.st_ino && written.born_ns == born_ns &&
                       written.handle == handle_of(container);
  return {!is_same, born_ns, is_same ? std::min(written.since_ns, born_ns) : 0};
}

FileOrigin origin_by(FileOrigin origin, const struct stat& file, uid_t author) {
  if (file.st_uid == author || file.st_uid == 0 || author == unknown_user) return origin;
  return {true, changed_ns(file), 0};
}

Result<FileOrigin> origin_of(const File& directory, const std::string& name) {
  const File file =
      MCR_TRY(File::open(directory.descriptor(), name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
  const struct stat status = MCR_TRY(file.status());
  if (!is_believed(status.st_uid, ::geteuid())) {
    errno = EPERM;
    return system_error("cannot take for a container of this user's:", file.name());
  }
  Bytes head(UserBlock::bytes);
  MCR_TRY(file.read_at(0, head));
  return origin_of(head, file, status);
}

std::uint64_t written_since(const File& directory) {
  if (birth_time_of(directory) == 0) return 0;
  const auto names = list_directory(directory.descriptor(), ".");
  if (!names) return 0;
  std::vector<std::pair<std::uint64_t, std::string>> containers;  // by last change
  for (const std::string& name : *names) {
    struct stat status {};
    if (is_container_name(name) &&
        system_calls().fstatat(directory.descriptor(), name.c_str(), &status,
                               AT_SYMLINK_NOFOLLOW) == 0 &&
        is_believed(status.st_uid, ::geteuid()))
      containers.emplace_back(changed_ns(status), name);
  }
  // Copies come later than the originals that are there.
  std::sort(containers.begin(), containers.end());
  if (containers.size() > most_looks) containers.resize(most_looks);
  for (const auto& [changed, name] : containers) {
    const auto origin = origin_of(directory, name);
    if (origin && origin->since_ns != 0) return origin->since_ns;
  }
  return 0;
}

}  // namespace mcr::restart
