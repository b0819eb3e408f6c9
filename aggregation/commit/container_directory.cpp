// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/container_directory.hpp"

#include <fcntl.h>

#include <cerrno>
#include <mutex>
#include <set>
#include <utility>

#include "restart/base/durable_replace.hpp"
#include "restart/sets/own_containers.hpp"

namespace mcr::aggregation {

using restart::File;
using restart::FileIdentity;

namespace {

Result<restart::MadeContainers> make_one(const File& parent, const std::string& name) {
  auto made = MCR_TRY(restart::make_open_containers(parent, name));
  // One that is there already may have been made by a rank, or by a leader that died over it: so
  // each leader sees to it once.
  static std::mutex mutex;
  static std::set<FileIdentity> durable;
  const FileIdentity identity(MCR_TRY(made.directory.status()));
  const std::lock_guard lock(mutex);
  if (!made.is_new && durable.contains(identity)) return made;
  const auto readable = File::open(parent.descriptor(), ".", O_RDONLY | O_DIRECTORY);
  // Where it may be written to but not be read, there is no way to ask for this.
  if (readable) MCR_TRY(restart::sync_directory(readable->descriptor()));
  if (!readable && readable.error().system_error != EACCES) return readable.error();
  durable.insert(identity);
  return made;
}

}  // namespace

Result<restart::MadeContainers> make_container_directory(const File& base,
                                                         const std::string& below) {
  restart::MadeContainers at{MCR_TRY(File::open(base.descriptor(), ".", O_PATH | O_DIRECTORY))};
  for (std::size_t begin = 0; begin < below.size();) {
    const std::size_t end = std::min(below.find('/', begin), below.size());
    const std::string name = below.substr(begin, end - begin);
    if (name == "..") {
      at = {MCR_TRY(File::open(at.directory.descriptor(), "..", O_PATH | O_DIRECTORY))};
    } else {
      at = MCR_TRY(make_one(at.directory, name));
    }
    begin = end + 1;
  }
  return at;
}

}  // namespace mcr::aggregation
