// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/mcr/made_directory.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "restart/base/birth_time.hpp"
#include "restart/base/system.hpp"

namespace mcr::aggregation {

using restart::File;

MadeDirectory::MadeDirectory(File home, std::string name, File directory, std::uint64_t begun_ns)
    : home_(std::move(home)),
      name_(std::move(name)),
      directory_(std::move(directory)),
      begun_ns_(begun_ns) {}

Result<MadeDirectory> MadeDirectory::just_made(File home, std::string name,
                                               std::uint64_t begun_ns) {
  File directory =
      MCR_TRY(File::open(home.descriptor(), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  const bool is_own = MCR_TRY(directory.status()).st_uid == ::geteuid();
  if (!is_own || !MCR_TRY(restart::list_directory(directory.descriptor(), ".")).empty())
    return Error{Cause::system, name + " was replaced by another directory", ESTALE};
  return MadeDirectory(std::move(home), std::move(name), std::move(directory), begun_ns);
}

void MadeDirectory::remove() const {
  if (!restart::is_still_named(directory_, home_.descriptor(), name_)) return;
  // An empty directory of this user's may have been put in place before the directory was opened.
  if (restart::was_made_before(directory_, begun_ns_)) return;
  (void)restart::system_calls().unlinkat(home_.descriptor(), name_.c_str(), AT_REMOVEDIR);
}

}  // namespace mcr::aggregation
