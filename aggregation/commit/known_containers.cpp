// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/known_containers.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "restart/base/file.hpp"
#include "restart/base/log.hpp"
#include "restart/base/system.hpp"
#include "restart/base/trust.hpp"
#include "restart/sets/look.hpp"

namespace mcr::aggregation {

namespace {

/// The most directories that are remembered: a program may make a directory for each step.
constexpr std::size_t most_directories = 64;

}  // namespace

std::set<std::string> KnownContainers::find(const restart::ContainerName& where) {
  struct stat status {};
  if (restart::system_calls().fstatat(AT_FDCWD, where.directory.c_str(), &status, 0) != 0) {
    forget(where.directory);
    return {};
  }
  const restart::FileIdentity identity(status);
  auto known = directories_.find(where.directory);
  if (known == directories_.end() || known->second.identity != identity) {
    // If others have filled the directory with names, only the containers that a leader of this user
    // may have made are kept.
    const auto home = restart::File::open(AT_FDCWD, where.directory, O_RDONLY | O_DIRECTORY);
    const auto believes = [](uid_t writer) { return restart::is_believed(writer, ::geteuid()); };
    auto listed = home ? restart::list_containers(home->descriptor(), believes)
                       : Result<std::vector<std::string>>(home.error());
    if (!listed) {
      if (listed.error().system_error == EOVERFLOW)
        restart::log_warning_once("names in " + where.directory, listed.error().message);
      return {};
    }
    forget(where.directory);
    if (directories_.size() >= most_directories) directories_.clear();
    Directory directory{identity, {listed->begin(), listed->end()}};
    known = directories_.emplace(where.directory, std::move(directory)).first;
  }
  const std::set<std::string>& names = known->second.names;
  std::set<std::string> found;
  for (auto name = names.lower_bound(where.prefix);
       name != names.end() && name->starts_with(where.prefix); ++name) {
    found.insert(*name);
  }
  return found;
}

void KnownContainers::add(const restart::ContainerName& where, const std::string& name) {
  const auto known = directories_.find(where.directory);
  if (known != directories_.end()) known->second.names.insert(name);
}

}  // namespace mcr::aggregation
