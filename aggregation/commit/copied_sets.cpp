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

using restart::File;
using restart::parent_of;

/// True if a file in the directory of the part's path is a stub of one of these parts, under whatever name.
bool is_in_its_directory(const StoredPart& part, const std::set<PartId>& parts) {
  if (part.below.empty()) return false;
  const auto base = part.home->open_base(O_PATH | O_DIRECTORY);
  if (!base) return false;
  const std::size_t slash = part.below.rfind('/');
  const auto directory = restart::open_beneath(
      base->descriptor(), slash == std::string::npos ? "." : part.below.substr(0, slash),
      O_RDONLY | O_DIRECTORY);
  const auto names = directory ? restart::list_directory(directory->descriptor(), ".")
                               : Result<std::vector<std::string>>(directory.error());
  return names && std::any_of(names->begin(), names->end(), [&](const std::string& name) {
           const auto there =
               restart::file_at(directory->descriptor(), name, restart::Links::not_followed);
           return there.is_stub() && parts.contains(there.stub.part);
         });
}

bool has_stub(const StoredSet& set) {
  const auto is_at_its_path = [](const StoredPart& part) {
    return restart::file_at(part.open()).is_stub_of(part.part);
  };
  if (std::any_of(set.parts.begin(), set.parts.end(), is_at_its_path)) return true;
  std::set<PartId> parts;
  for (const StoredPart& part : set.parts) parts.insert(part.part);
  // The program may have renamed its files.
  return !set.parts.empty() && is_in_its_directory(set.parts.front(), parts);
}

}  // namespace

bool fill_gaps(StoredSet& set, StoredSet& copied) {
  bool is_filled = false;
  const std::set<std::uint32_t> wrote = set.account.wrote;
  for (StoredPart& part : copied.parts) {
    if (wrote.contains(part.rank)) continue;
    set.account.wrote.insert(part.rank);
    set.parts.push_back(std::move(part));
    is_filled = true;
  }
  if (!is_filled) return false;
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
