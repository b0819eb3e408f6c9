// SPDX-License-Identifier: BSD-3-Clause
#include "restart/container/own_file.hpp"

#include "restart/base/birth_time.hpp"

namespace mcr::restart {

Result<void> mark_own_file(const File& container) {
  const FileMark mark{MCR_TRY(container.status()).st_ino, birth_time_of(container)};
  return container.write_at(FileMark::offset, write_file_mark(mark));
}

bool is_another_file(const FileMark& mark, const File& container, const struct stat& status) {
  const std::uint64_t born_ns = birth_time_of(container);
  return born_ns != 0 && mark != FileMark{status.st_ino, born_ns};
}

}  // namespace mcr::restart
