// SPDX-License-Identifier: BSD-3-Clause
#include "restart/sets/planted_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/base/trust.hpp"

namespace mcr::restart {
namespace {

std::string above_tail(const std::string& path, std::size_t components) {
  return path.substr(0, path.size() - path_tail(path, components).size());
}

}  // namespace

PlantedFiles::PlantedFiles(const std::string& path, const std::string& written_as, uid_t owner,
                           const std::string& base, std::size_t components)
    : base_(base),
      components_(components),
      here_(above_tail(path, components)),
      is_possible_(above_tail(written_as, components) == here_),
      owner_(owner) {}

bool PlantedFiles::is_of_another_user(const std::string& path) {
  struct stat status {};
  if (parent_of(path) != base_ || !others_may_add(base_) ||
      system_calls().fstatat(AT_FDCWD, path.c_str(), &status, 0) != 0)
    return false;
  const auto [believed, is_new] = believed_.try_emplace(status.st_uid);
  if (is_new) believed->second = is_believed_among(path, base_, status, owner_);
  return !believed->second;
}

bool PlantedFiles::may_include(const std::string& path, const std::optional<Stub>& stub) {
  if (!is_possible_ || (stub && above_tail(stub->path, components_) == here_)) return false;
  return others_may_add(base_) || others_may_add(parent_of(path));
}

bool PlantedFiles::others_may_add(const std::string& directory) {
  const auto [found, is_new] = may_add_.try_emplace(directory);
  struct stat status {};
  if (is_new)
    found->second = system_calls().fstatat(AT_FDCWD, directory.c_str(), &status, 0) == 0 &&
                    others_may_only_add(status);
  return found->second;
}

}  // namespace mcr::restart
