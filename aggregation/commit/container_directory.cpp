// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/container_directory.hpp"

#include <fcntl.h>

#include <cerrno>
#include <mutex>
#include <set>
#include <utility>

#include "restart/base/durable_replace.hpp"
#include "restart/base/path_names.hpp"
#include "restart/sets/own_containers.hpp"

namespace mcr::aggregation {

using restart::File;
using restart::FileIdentity;

namespace {

Result<restart::MadeContainers> make_one(const File& parent, const std::string& name) {
  auto made = MCR_TRY(restart::make_open_containers(parent, name));
  // An existing directory may not be durable: a rank made it, or a leader that died meanwhile. So
  // each leader syncs it once.
  static std::mutex mutex;
  static std::set<FileIdentity> durable;
  const FileIdentity identity(MCR_TRY(made.directory.status()));
  const std::lock_guard lock(mutex);
  if (!made.is_new && durable.contains(identity)) return made;
  const auto readable = File::open(parent.descriptor(), ".", O_RDONLY | O_DIRECTORY);
  // A directory that may be written but not read cannot be opened for fsync.
  if (readable) MCR_TRY(restart::sync_directory(readable->descriptor()));
  if (!readable && readable.error().system_error != EACCES) return readable.error();
  durable.insert(identity);
  return made;
}

}  // namespace

Result<restart::MadeContainers> make_container_directory(const File& base,
                                                         const std::string& below) {
  restart::MadeContainers at{MCR_TRY(File::open(base.descriptor(), ".", O_PATH | O_DIRECTORY))};
  for (const std::string& name : restart::split_path(below)) {
    if (name == "..") {
      at = {MCR_TRY(File::open(at.directory.descriptor(), "..", O_PATH | O_DIRECTORY))};
    } else {
      at = MCR_TRY(make_one(at.directory, name));
    }
  }
  return at;
}

}  // namespace mcr::aggregation
