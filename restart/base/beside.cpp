// SPDX-License-Identifier: BSD-3-Clause
// Directories looked at for what trust.hpp decides of them.
#include <fcntl.h>

#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/base/trust.hpp"

namespace mcr::restart {
namespace {

Result<struct stat> status_of(const std::string& directory) {
  struct stat status {};
  if (system_calls().fstatat(AT_FDCWD, directory.c_str(), &status, 0) != 0)
    return system_error("cannot look at", directory);
  return status;
}

Beside of_both(const Result<struct stat>& outer, const Result<struct stat>& inner) {
  return outer && inner ? Beside(*outer, *inner) : Beside();
}

}  // namespace

Beside Beside::of(const std::string& directory) {
  return of_both(status_of(parent_of(directory)), status_of(directory));
}

Beside Beside::of(const File& inner, const std::string& directory) {
  return of_both(status_of(parent_of(directory)), inner.status());
}

Beside Beside::in(const std::string& directory) {
  const auto home = status_of(directory);
  return of_both(home, home);
}

}  // namespace mcr::restart
