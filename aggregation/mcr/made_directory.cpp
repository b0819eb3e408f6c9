// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/mcr/made_directory.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "restart/base/birth_time.hpp"
#include "restart/base/file_identity.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"

namespace mcr::aggregation {

using restart::File;
using restart::FileIdentity;

namespace {

constexpr int to_hold = O_PATH | O_DIRECTORY;

Result<File> again(const File& directory) {
  return File::open(directory.descriptor(), ".", to_hold);
}

/// Opens the entry `name` of the open directory `at`, and makes it if it is missing. `made` is the directory that was
/// made.
Result<File> enter_or_make(const File& at, const std::string& name,
                           std::optional<MadeDirectory>& made) {
  made.reset();
  auto existing = File::open(at.descriptor(), name, to_hold);
  if (existing || existing.error().system_error != ENOENT) return existing;
  const std::uint64_t begun_ns = restart::clock_ns(CLOCK_REALTIME);
  const bool is_made = restart::system_calls().mkdirat(at.descriptor(), name.c_str(), 0777) == 0;
  if (!is_made && errno != EEXIST) return restart::system_error("cannot make", name);
  File entered = MCR_TRY(File::open(at.descriptor(), name, to_hold | O_NOFOLLOW));
  if (!is_made) return entered;
  auto held = MadeDirectory::just_made(MCR_TRY(again(at)), name, begun_ns);
  if (held && restart::leads_to(held->directory().descriptor(), ".",
                                FileIdentity(MCR_TRY(entered.status()))))
    made = *std::move(held);
  return entered;
}

}  // namespace

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

Result<std::optional<MadeDirectory>> make_directories(const std::string& path) {
  std::optional<MadeDirectory> made;
  if (File::open(AT_FDCWD, path, to_hold)) return made;
  File at = MCR_TRY(File::open(AT_FDCWD, path.starts_with('/') ? "/" : ".", to_hold));
  for (const std::string& name : restart::split_path(path)) {
    auto entered = enter_or_make(at, name, made);
    if (!entered) {
      errno = entered.error().system_error;
      return restart::system_error("cannot make the directory", path);
    }
    at = *std::move(entered);
  }
  return made;
}

}  // namespace mcr::aggregation
