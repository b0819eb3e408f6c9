// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/commit/copied_sets.hpp"

#include <fcntl.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"
#include "restart/format/masked_name.hpp"
#include "restart/sets/stored_sets.hpp"
#include "restart/stage/file_at.hpp"

namespace mcr::aggregation {
namespace {

using restart::parent_of;

bool is_of(const restart::Stub& stub, const SetName& set) {
  return stub.launch == set.launch && stub.sequence == set.sequence;
}

/// True if files in the directory of the first part's path are stubs of all parts, under whatever names.
bool are_in_their_directory(const StoredSet& set) {
  const StoredPart& part = set.parts.front();
  if (part.below.empty()) return false;
  const auto base = part.home->open_base(O_PATH | O_DIRECTORY);
  if (!base) return false;
  const std::string below = parent_of("/" + part.below).substr(1);
  const auto directory =
      below.empty() ? restart::File::open(base->descriptor(), ".", O_RDONLY | O_DIRECTORY)
                    : restart::open_beneath(base->descriptor(), below, O_RDONLY | O_DIRECTORY);
  const auto names = directory ? restart::list_directory(directory->descriptor(), ".")
                               : Result<std::vector<std::string>>(directory.error());
  if (!names) return false;
  std::set<PartId> missing;
  for (const StoredPart& it : set.parts) missing.insert(it.part);
  for (const std::string& name : *names) {
    const auto there =
        restart::file_at(directory->descriptor(), name, restart::Links::not_followed);
    if (there.is_stub() && is_of(there.stub, set.name)) missing.erase(there.stub.part);
    if (missing.empty()) return true;
  }
  return false;
}

bool is_at_its_path(const StoredPart& part, const SetName& set) {
  const auto there = restart::file_at(part.open());
  // A copied container may tell another set, or another rank, which could be one that the set lacks.
  return there.is_stub_of(part.part) && there.stub.rank == part.rank && is_of(there.stub, set);
}

/// True if a file belongs to the set: at one of its paths or, if the program has renamed its files, all of them beside one another.
bool has_stubs(const StoredSet& set) {
  if (set.parts.empty()) return false;
  return std::any_of(set.parts.begin(), set.parts.end(),
                     [&](const StoredPart& part) { return is_at_its_path(part, set.name); }) ||
         are_in_their_directory(set);
}

using Pattern = std::pair<std::string, std::string>;  // directory, and pattern of the names

Pattern pattern_of(const StoredSet& set) {
  return {parent_of(set.prefix), restart::pattern_of(set.name_below())};
}

/// In a run that was copied as a whole, all containers are copies, and nothing tells whose they were. But the files at the names
/// show which of the sets was the last one. Marks newer sets to which no file belongs.
void mark_sets_without_files(std::vector<StoredSet>& sets) {
  std::map<Pattern, std::vector<StoredSet*>> by_pattern;
  for (StoredSet& set : sets) {
    const bool is_whole = wholeness(set.account) == Wholeness::whole && set.damaged.empty();
    if (is_whole && !set.is_of_one_file && !set.is_unused_copy)
      by_pattern[pattern_of(set)].push_back(&set);
  }
  for (auto& [pattern, whole] : by_pattern) {
    std::sort(whole.begin(), whole.end(),
              [](const auto* a, const auto* b) { return is_older(*b, *a); });
    const auto shown = std::find_if(whole.begin(), whole.end(), [](const StoredSet* set) {
      return !set->is_of_copies || has_stubs(*set);
    });
    if (shown == whole.end()) continue;
    std::for_each(whole.begin(), shown, [](StoredSet* set) { set->is_unused_copy = true; });
  }
}

}  // namespace

bool add_named_parts(StoredSet& set, StoredSet& copied) {
  bool is_used = false;
  std::set<PartId> known;
  for (const StoredPart& part : set.parts) known.insert(part.part);
  for (StoredPart& part : copied.parts) {
    if (known.contains(part.part) || !is_at_its_path(part, set.name)) continue;
    set.account.wrote.insert(part.rank);
    set.parts.push_back(std::move(part));
    is_used = true;
  }
  if (!is_used) return false;
  set.has_copied_parts = true;
  restart::add_statements(set.account, copied.account);
  set.amendments.add(copied.amendments);
  set.containers.insert(set.containers.end(), copied.containers.begin(), copied.containers.end());
  set.read.merge(copied.read);
  set.container_bytes += copied.container_bytes;
  return true;
}

void mark_unused_copies(std::vector<StoredSet>& sets) {
  // The name at writing may be that in another user's directory.
  const auto here = [](const StoredSet& set) {
    return std::pair(parent_of(set.prefix),
                     SetName{set.name.launch, set.name_below(), set.name.sequence});
  };
  std::set<Pattern> of_originals;
  std::set<std::pair<std::string, SetName>> originals;
  for (const StoredSet& set : sets) {
    if (set.is_copied) continue;
    originals.insert(here(set));
    if (wholeness(set.account) == Wholeness::whole && set.damaged.empty())
      of_originals.insert(pattern_of(set));
  }
  for (StoredSet& set : sets) {
    if (!set.is_copied) continue;
    set.is_unused_copy = originals.contains(here(set)) ||
                         (of_originals.contains(pattern_of(set)) && !has_stubs(set));
  }
  mark_sets_without_files(sets);
}

}  // namespace mcr::aggregation
