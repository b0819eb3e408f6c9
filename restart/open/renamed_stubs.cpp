// SPDX-License-Identifier: BSD-3-Clause
#include "restart/open/renamed_stubs.hpp"

#include <fcntl.h>

#include <algorithm>
#include <map>
#include <vector>

#include "restart/base/path_names.hpp"
#include "restart/base/replacers.hpp"
#include "restart/base/trust.hpp"
#include "restart/format/masked_name.hpp"

namespace mcr::restart {
namespace {

/// True if the stub was written at another path below the set's directory than that at which it lies, or is reached by a link.
bool has_other_name(const Stub& stub, const std::string& path, FileNumber number,
                    const NamesHere& here, const PresentNames& present) {
  return present.linked.contains(number) ||
         path_tail(stub.path, here.named_components) != path_tail(path, here.named_components);
}

/// Owner, group, mode and access list of the directory, and of those above it up to `base`. Directories of equal rights
/// have the same replacers.
std::string rights_of(const std::string& directory, const std::string& base) {
  std::string rights;
  for (std::string at = directory; at.size() >= base.size(); at = parent_of(at)) {
    const auto opened = File::open(AT_FDCWD, at, O_PATH | O_DIRECTORY);
    const auto status = opened ? opened->status() : Result<struct stat>(opened.error());
    if (!status) return "? " + directory;  // equal to nothing
    rights += std::to_string(status->st_uid) + ':' + std::to_string(status->st_gid) + ':' +
              std::to_string(status->st_mode) + ':';
    for (const std::byte byte : access_list_of(*opened)) rights += static_cast<char>(byte);
    if (at == "/") break;
  }
  return rights;
}

bool may_trust_paths(const std::string& there, const std::string& here, uid_t owner) {
  const auto one = File::open(AT_FDCWD, there, O_PATH | O_DIRECTORY);
  const auto other = File::open(AT_FDCWD, here, O_PATH | O_DIRECTORY);
  if (!one || !other) return false;
  const auto answer = may_trust(*one, *other, owner);
  return answer && *answer;
}

}  // namespace

bool another_was_renamed(const Stub& opened, const NamesHere& here, const PresentNames& present,
                         const std::string& launch) {
  return std::any_of(present.stubs.begin(), present.stubs.end(), [&](const auto& entry) {
    const auto& [number, stub] = entry;
    if (stub.launch == launch || present.linked.contains(number) ||
        present.at.at(number).may_be_planted)
      return false;
    return has_other_name(stub, present.paths.at(number), number, here, present) ||
           before_tail(stub.path, here.components) != before_tail(opened.path, here.components);
  });
}

MovedStub stub_moved_by_others(const NamesHere& here, const PresentNames& present,
                               const GenerationName& shown) {
  const std::string base = parent_of(here.base + "x");
  std::map<std::string, std::string> by_rights;  // a file of each kind of directory
  std::map<std::string, std::string> rights;     // by directory
  for (const auto& [number, path] : present.paths) {
    const std::string directory = parent_of(path);
    const auto [known, is_new] = rights.try_emplace(directory);
    if (is_new) known->second = rights_of(directory, base);
    by_rights.try_emplace(known->second, path);
  }
  if (by_rights.size() < 2) return {};
  // If the whole tree was moved, the directory in which all stubs were written is another one.
  const auto is_written_elsewhere = [&](const Stub& stub) {
    return before_tail(stub.path, here.components) != here.base;
  };
  const bool is_tree_moved =
      std::all_of(present.stubs.begin(), present.stubs.end(), [&](const auto& entry) {
        return before_tail(entry.second.path, here.components) ==
               before_tail(present.stubs.begin()->second.path, here.components);
      });
  MovedStub found;
  for (const auto& [number, stub] : present.stubs) {
    if (present.at.at(number).generation != shown) continue;
    const std::string& path = present.paths.at(number);
    const bool is_moved = has_other_name(stub, path, number, here, present) ||
                          (!is_tree_moved && is_written_elsewhere(stub));
    const std::string& own = rights.at(parent_of(path));
    const auto strict = std::find_if(by_rights.begin(), by_rights.end(), [&](const auto& other) {
      return other.first != own &&
             !may_trust_paths(parent_of(path), parent_of(other.second), here.place.owner);
    });
    if (!is_moved || strict == by_rights.end()) return {};
    if (found.path.empty()) found = {path, strict->second};
  }
  return found;
}

}  // namespace mcr::restart
