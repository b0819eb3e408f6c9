// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/written_place.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "restart/base/fitting_names.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/format/container_name.hpp"

namespace mcr::aggregation {

using restart::File;
using restart::FileIdentity;

namespace {

/// As restart::leads_to(), but follows links.
bool reaches(const File& directory, const std::string& name, const FileIdentity& containers) {
  struct stat there {};
  return restart::system_calls().fstatat(directory.descriptor(), name.c_str(), &there, 0) == 0 &&
         FileIdentity(there) == containers;
}

/// Returns the name in `directory` of the directory of containers, or of a link to it; empty if there is none.
std::string entry_to(const File& directory, const ContainersPlace& home) {
  const FileIdentity& containers = home.directories.inner;
  for (const std::string& name : {home.name, std::string("mcr")})
    if (reaches(directory, name, containers)) return name;
  std::string found;
  const auto look = [&](std::string name) {
    struct stat entry {};
    const bool may_lead = restart::system_calls().fstatat(directory.descriptor(), name.c_str(),
                                                          &entry, AT_SYMLINK_NOFOLLOW) == 0 &&
                          (S_ISDIR(entry.st_mode) || S_ISLNK(entry.st_mode)) && name != "." &&
                          name != "..";
    if (may_lead && reaches(directory, name, containers)) found = std::move(name);
    return found.empty();
  };
  (void)restart::for_each_name(directory.descriptor(), ".", look).has_value();
  return found;
}

std::string written_base(const StoredSet& set) {
  return restart::container_name(set.name.masked_name, "mcr", "", 0).base;
}

/// Returns the path at which the set's containers were written with this value of container_dir.
std::string written_directory(const StoredSet& set, const std::string& container_dir) {
  const std::filesystem::path path =
      restart::container_name(set.name.masked_name, container_dir, "", 0).directory;
  return path.lexically_normal();
}

bool is_link_in_base(const StoredSet& set) {
  const auto base = set.home->open_base(O_PATH | O_DIRECTORY);
  struct stat entry {};
  return !base ||
         restart::system_calls().fstatat(base->descriptor(), set.home->name.c_str(), &entry,
                                         AT_SYMLINK_NOFOLLOW) != 0 ||
         !S_ISDIR(entry.st_mode);
}

}  // namespace

std::optional<WrittenPlace> written_place(const StoredSet& set) {
  std::string path = written_base(set);
  if (!path.starts_with('/')) return std::nullopt;
  // Containers of earlier builds do not tell container_dir=.
  const std::uint32_t first = set.steps_up.value_or(0);
  const std::uint32_t last = set.steps_up.value_or(1);
  for (std::uint32_t step = 0; step <= last; ++step) {
    if (step > 0 && path == "/") break;
    if (step > 0) path = restart::parent_of(path);
    if (step < first) continue;
    auto directory = File::open(AT_FDCWD, path, O_RDONLY | O_DIRECTORY);
    const auto status = directory ? directory->status() : Result<struct stat>(directory.error());
    // If the directory of the files is gone, nothing tells that the one above it was meant.
    if (!status) return std::nullopt;
    const bool is_base = FileIdentity(*status) == set.home->directories.outer;
    std::string name = is_base ? set.home->name : entry_to(*directory, *set.home);
    if (!name.empty()) return WrittenPlace{path, std::move(name), *std::move(directory), is_base};
  }
  return std::nullopt;
}

bool was_moved_to_base(const StoredSet& set, const std::vector<StoredSet>& sets,
                       const StubsFound& found) {
  const bool is_link = is_link_in_base(set);
  return std::any_of(sets.begin(), sets.end(), [&](const StoredSet& other) {
    if (other.home->directories != set.home->directories) return false;
    return std::any_of(other.parts.begin(), other.parts.end(), [&](const StoredPart& part) {
      const auto stub = found.find(part.part);
      if (stub == found.end()) return false;
      const bool needs_same_place = is_link || restart::name_of(stub->second) != set.home->name;
      return !needs_same_place ||
             written_directory(other, stub->second) == written_directory(set, stub->second);
    });
  });
}

std::string no_stub_below_base(const StoredSet& set) {
  return "no stub of the containers in " + set.home->directory + " lies below " + set.home->base +
         "; their files were written in " + written_base(set);
}

}  // namespace mcr::aggregation
