// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/container_directory.hpp"

#include <fcntl.h>

#include <cerrno>
#include <mutex>
#include <set>

#include "restart/base/attributes.hpp"
#include "restart/base/durable_replace.hpp"
#include "restart/base/file.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/sets/own_containers.hpp"

namespace mcr::aggregation {

using restart::File;

Result<void> make_container_directory(const std::string& path) {
  if (restart::name_of(path) == "..") return {};  // container_dir=../mcr
  struct stat there {};
  const bool is_new =
      restart::system_calls().fstatat(AT_FDCWD, path.c_str(), &there, AT_SYMLINK_NOFOLLOW) != 0;
  MCR_TRY(restart::make_own_containers(path));
  // One that is there already may have been made by a rank, or by a leader that died over it: so
  // each leader sees to it once.
  static std::mutex mutex;
  static std::set<std::string> durable;
  const std::lock_guard lock(mutex);
  if (!is_new && durable.contains(path)) return {};
  const auto parent = File::open(AT_FDCWD, restart::parent_of(path), O_RDONLY | O_DIRECTORY);
  // Where it may be written to but not be read, there is no way to ask for this.
  if (parent) MCR_TRY(restart::sync_directory(parent->descriptor()));
  if (!parent && parent.error().system_error != EACCES) return parent.error();
  // Our umask need not be the ranks'.
  if (is_new && parent) {
    const File made = MCR_TRY(File::open(AT_FDCWD, path, O_RDONLY | O_DIRECTORY));
    MCR_TRY(restart::open_as_parent(made, *parent));
  }
  durable.insert(path);
  return {};
}

}  // namespace mcr::aggregation
