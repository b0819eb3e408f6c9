// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/mcr/containers_below.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <map>
#include <set>

#include "aggregation/mcr/files_below.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/trust.hpp"
#include "restart/format/container_name.hpp"

namespace mcr::aggregation {
namespace {

using restart::File;
using restart::FileIdentity;

/// The directories whose containers find_named_containers() returns.
std::set<FileIdentity> named_directories(const std::string& argument) {
  std::set<FileIdentity> found;
  for (const std::string& path : {argument, argument + "/mcr"}) {
    struct stat status {};
    const bool is_looked_at = path == argument || leads_nowhere_else(path);
    if (is_looked_at && ::stat(path.c_str(), &status) == 0) found.insert(FileIdentity(status));
  }
  return found;
}

}  // namespace

bool is_directory(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

Result<std::vector<ContainersTogether>> find_containers_below(const std::string& argument,
                                                              const char* command) {
  std::vector<ContainersTogether> all;
  auto named = find_named_containers(argument);
  if (!is_directory(argument)) {
    all.push_back({MCR_TRY(std::move(named)), {}, {}});
    return all;
  }
  const auto top = File::open(AT_FDCWD, argument, O_RDONLY | O_DIRECTORY);
  if (!top) return named ? top.error() : named.error();
  const FileIdentity top_identity(MCR_TRY(top->status()));
  std::map<std::string, FileIdentity> directories;
  const NotLookedAt left =
      look_below(*top, without_last_slashes(argument), [&](const FileBelow& file) {
        if (restart::is_container_name(restart::name_of(file.path)))
          directories.emplace(restart::parent_of(file.path), file.home);
      });
  const std::set<FileIdentity> known = named_directories(argument);
  if (named) all.push_back({*std::move(named), top_identity, {}});
  for (const auto& [path, identity] : directories) {
    if (known.contains(identity)) continue;
    auto containers = containers_in(path, "");
    if (!containers.empty()) all.push_back({std::move(containers), top_identity, identity});
  }
  if (all.empty()) {
    Error error = named.error();
    if (error.system_error == ENOENT) {
      print_not_looked_at(left, command);
      if (error.message.ends_with("have no container"))
        error.message += "; the directories below it have none either";
    }
    return error;
  }
  print_not_looked_at(left, command);
  return all;
}

Result<std::vector<std::string>> paths_below(const std::string& argument, const char* command) {
  std::vector<std::string> paths;
  for (ContainersTogether& together : MCR_TRY(find_containers_below(argument, command))) {
    for (NamedContainer& container : together.containers)
      paths.push_back(std::move(container.path));
  }
  return paths;
}

std::string without_last_slashes(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

bool is_way_believed(const std::string& top, const std::string& directory,
                     const FileIdentity& reached, uid_t user) {
  const std::string begin = top == "." ? "" : top.ends_with('/') ? top : top + "/";
  if (!directory.starts_with(begin) || directory == top) return true;
  constexpr int to_look = O_PATH | O_DIRECTORY;
  auto above = File::open(AT_FDCWD, top, to_look);
  for (std::size_t at = begin.size(); above && at != std::string::npos;) {
    const std::size_t slash = directory.find('/', at);
    auto here =
        File::open(above->descriptor(), directory.substr(at, slash - at), to_look | O_NOFOLLOW);
    const auto status = here ? here->status() : Result<struct stat>(here.error());
    if (!status || !restart::is_believed_in(*above, *status, user)) return false;
    above = std::move(here);
    at = slash == std::string::npos ? slash : slash + 1;
  }
  const auto status = above ? above->status() : Result<struct stat>(above.error());
  return status && FileIdentity(*status) == reached;
}

}  // namespace mcr::aggregation
