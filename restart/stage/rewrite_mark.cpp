// SPDX-License-Identifier: BSD-3-Clause
#include "restart/stage/rewrite_mark.hpp"

#include <sys/stat.h>

#include <array>

#include "restart/stage/stub_file.hpp"

namespace mcr::restart {

void mark_rewritten(const File& file, const Stub& stub) {
  if (!stub.text_offset || stub.is_rewritten) return;
  const auto status = file.status();
  const std::array<std::byte, 1> mark{rewrite_mark};
  if (!status || !file.write_at(*stub.text_offset, mark)) return;
  // The modification time says whether the stub was read since it was written (base/read_marks). The access time is
  // left alone: another process may be reading the stub now.
  const struct timespec times[2] = {{0, UTIME_OMIT}, status->st_mtim};
  (void)::futimens(file.descriptor(), times);
}

bool still_shows(const File& file, const PartId& part) {
  const auto stub = read_stub_file(file);
  return stub && stub->part == part && !stub->is_rewritten;
}

}  // namespace mcr::restart
