// SPDX-License-Identifier: BSD-3-Clause
#include "restart/sets/set_logs.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "codecs/base/bytes.hpp"
#include "restart/base/durable_replace.hpp"
#include "restart/base/printable.hpp"
#include "restart/base/system.hpp"
#include "restart/base/time_stamp.hpp"
#include "restart/base/trust.hpp"

namespace mcr::restart {
namespace {

/// True if a file of this user's there counts as made by this user.
Result<bool> is_for_own_files(const File& containers) {
  const File above = MCR_TRY(File::open(containers.descriptor(), "..", O_PATH | O_DIRECTORY));
  struct stat own {};
  own.st_uid = ::geteuid();
  return MCR_TRY(Beside::of(above, containers)).author(own) == own.st_uid;
}

Result<bool> is_log(const File& file, const std::string& first_line) {
  const struct stat status = MCR_TRY(file.status());
  if (!S_ISREG(status.st_mode) || status.st_nlink != 1) return false;
  Bytes begin(first_line.size());
  const std::size_t got = MCR_TRY(file.read_some_at(0, begin));
  return as_text(ByteSpan(begin).first(got)) == first_line;
}

Result<File> open_log(const File& containers, const std::string& name) {
  const std::string first_line = first_line_of_log(name);
  constexpr int flags = O_RDWR | O_APPEND;
  auto log = open_beneath(containers.descriptor(), name, flags);
  if (!log && log.error().system_error == ENOENT) {
    const auto made = replace_file(containers.descriptor(), name, as_bytes(first_line), 0666,
                                   Durability::none, Existing::kept);
    if (!made && made.error().system_error != EEXIST) return made.error();
    log = open_beneath(containers.descriptor(), name, flags);
  }
  if (!log || MCR_TRY(is_log(*log, first_line))) return log;
  errno = EEXIST;
  return system_error("a file that is no log of mcr has the name", name);
}

}  // namespace

std::string first_line_of_log(std::string_view name) {
  return "# mcr: " + std::string(name) + "\n";
}

Result<File> add_to_log(const File& containers, const std::string& name, const std::string& text) {
  if (!MCR_TRY(is_for_own_files(containers))) {
    errno = EPERM;
    return system_error("other users may put files beside", name);
  }
  File log = MCR_TRY(open_log(containers, name));
  MCR_TRY(log.append(as_bytes("# " + time_stamp() + " " + printable(text) + "\n")));
  return log;
}

}  // namespace mcr::restart
