// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/copied_sets.hpp"

#include <fcntl.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/stage/file_at.hpp"

namespace mcr::aggregation {
namespace {

using restart::parent_of;

/// True if a file in the directory of the part's path is a stub of one of these parts, under whatever name.
bool is_in_its_directory(const StoredPart& part, const std::set<PartId>& parts) {
  if (part.below.empty()) return false;
  const auto base = part.home->open_base(O_PATH | O_DIRECTORY);
  if (!base) return false;
  const std::string below = parent_of("/" + part.below).substr(1);
  const auto directory =
      below.empty() ? restart::File::open(base->descriptor(), ".", O_RDONLY | O_DIRECTORY)
                    : restart::open_beneath(base->descriptor(), below, O_RDONLY | O_DIRECTORY);
  const auto names = directory ? restart::list_directory(directory->descriptor(), ".")
                               : Result<std::vector<std::string>>(directory.error());
  return names && std::any_of(names->begin(), names->end(), [&](const std::string& name) {
           const auto there =
               restart::file_at(directory->descriptor(), name, restart::Links::not_followed);
           return there.is_stub() && parts.contains(there.stub.part);
         });
}

bool is_at_its_path(const StoredPart& part) {
  return restart::file_at(part.open()).is_stub_of(part.part);
}

bool has_stub(const StoredSet& set) {
  if (std::any_of(set.parts.begin(), set.parts.end(), is_at_its_path)) return true;
  std::set<PartId> parts;
  for (const StoredPart& part : set.parts) parts.insert(part.part);
  // The program may have renamed its files.
  return !set.parts.empty() && is_in_its_directory(set.parts.front(), parts);
}

}  // namespace

bool add_named_parts(StoredSet& set, StoredSet& copied) {
  bool is_used = false;
  for (StoredPart& part : copied.parts) {
    if (!is_at_its_path(part)) continue;
    set.account.wrote.insert(part.rank);
    set.parts.push_back(std::move(part));
    is_used = true;
  }
  if (!is_used) return false;
  set.has_copied_parts = true;
  set.amendments.add(copied.amendments);
  set.containers.insert(set.containers.end(), copied.containers.begin(), copied.containers.end());
  set.read.merge(copied.read);
  set.container_bytes += copied.container_bytes;
  return true;
}

void mark_unused_copies(std::vector<StoredSet>& sets) {
  std::set<std::string> with_originals;  // directories
  std::set<std::pair<std::string, SetName>> originals;
  for (const StoredSet& set : sets) {
    if (set.is_copied) continue;
    with_originals.insert(parent_of(set.prefix));
    originals.emplace(parent_of(set.prefix), set.name);
  }
  for (StoredSet& set : sets) {
    const std::string directory = parent_of(set.prefix);
    set.is_unused_copy = set.is_copied && with_originals.contains(directory) &&
                         (originals.contains({directory, set.name}) || !has_stub(set));
  }
}

}  // namespace mcr::aggregation
