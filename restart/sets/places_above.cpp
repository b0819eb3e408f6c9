// SPDX-License-Identifier: BSD-3-Clause
#include "restart/sets/places_above.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <string_view>

#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/format/container_name.hpp"

namespace mcr::restart {
namespace {

constexpr std::size_t most_levels = 64;
/// Of all places together. A stub's masked names may lead through many directories.
constexpr std::size_t most_directories = 64;

bool is_directory_of(const std::string& path, uid_t owner) {
  struct stat status {};
  return system_calls().fstatat(AT_FDCWD, path.c_str(), &status, 0) == 0 &&
         S_ISDIR(status.st_mode) && status.st_uid == owner;
}

/// Adds the directories of containers that lie in `directory` or in a directory above it, and that
/// `owner` owns.
void add_above(std::string directory, const std::string& container_dir, uid_t owner,
               std::vector<std::string>& found) {
  for (std::size_t level = 0; level < most_levels && directory.starts_with('/'); ++level) {
    if (found.size() == most_directories) return;
    const std::string place = (directory == "/" ? "/" : directory + "/") + container_dir;
    if (std::find(found.begin(), found.end(), place) == found.end() &&
        is_directory_of(place, owner)) {
      found.push_back(place);
    }
    if (directory == "/") return;
    directory = parent_of(directory);
  }
}

/// Returns the setting container_dir without its leading "../"; empty if the rest could still lead
/// upwards out of a directory.
std::string without_steps_up(std::string_view container_dir) {
  while (container_dir.starts_with("../")) container_dir.remove_prefix(3);
  const bool is_modest = !container_dir.empty() && !container_dir.starts_with('/') &&
                         container_dir != ".." && container_dir.find("/../") == std::string::npos &&
                         !container_dir.ends_with("/..");
  return is_modest ? std::string(container_dir) : std::string();
}

/// Returns a place that is believed only as far as an absolute path in the stub is.
ContainerPlace elsewhere(const Stub& stub, const std::string& masked_name,
                         const std::string& directory, const std::string& prefix, uid_t owner) {
  ContainerPlace place;
  place.masked_name = masked_name;
  place.container_dir = stub.container_directory;
  place.directory = directory;
  place.prefix = prefix;
  place.owner = owner;
  return place;
}

}  // namespace

std::vector<ContainerPlace> places_above(const Stub& stub, const std::string& stub_path,
                                         bool with_near_names) {
  std::vector<ContainerPlace> places;
  const std::string container_dir = without_steps_up(stub.container_directory);
  if (container_dir.empty()) return places;
  const uid_t owner = owner_of(stub, stub_path);
  std::vector<std::string> directories;
  add_above(parent_of(real_path(stub_path)), container_dir, owner, directories);
  for (const std::string& masked_name : stub.masked_names) {
    const ContainerName near =
        container_name(masked_name, stub.container_directory, stub.launch, stub.sequence);
    if (near.base.find("/../") == std::string::npos)
      add_above(near.base, container_dir, owner, directories);
  }
  for (const std::string& directory : directories) {
    for (const std::string& masked_name : stub.masked_names) {
      const auto far =
          far_container_name("/", masked_name, container_dir, stub.launch, stub.sequence);
      places.push_back(elsewhere(stub, masked_name, directory, far.prefix, owner));
      if (!with_near_names) continue;
      const ContainerName near =
          container_name(masked_name, stub.container_directory, stub.launch, stub.sequence);
      places.push_back(elsewhere(stub, masked_name, directory, near.prefix, owner));
    }
  }
  return places;
}

}  // namespace mcr::restart
