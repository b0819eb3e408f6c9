// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/mcr/named_directory.hpp"

#include <fcntl.h>

#include <cerrno>

#include "restart/base/file.hpp"
#include "restart/base/own_way.hpp"
#include "restart/base/trust.hpp"

namespace mcr::aggregation {

Result<std::optional<restart::FileIdentity>> end_of_trusted_way(const std::string& directory,
                                                                const std::string& outcome) {
  const restart::File start = MCR_TRY(restart::File::open(AT_FDCWD, ".", O_PATH | O_DIRECTORY));
  const auto end = restart::follow_links_no_weaker_than_target(start, directory);
  if (!end && end.error().system_error == ELOOP)
    return Error{Cause::usage, directory +
                                   " leads through a symbolic link that other users may have put "
                                   "there. " +
                                   outcome + ". If you want that directory, name " +
                                   restart::real_path(directory)};
  if (!end) return std::optional<restart::FileIdentity>();
  const auto found =
      restart::File::open(end->directory.descriptor(), end->name, O_PATH | O_NOFOLLOW);
  if (!found) return std::optional<restart::FileIdentity>();
  return std::optional(restart::FileIdentity(MCR_TRY(found->status())));
}

}  // namespace mcr::aggregation
