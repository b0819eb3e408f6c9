// SPDX-License-Identifier: BSD-3-Clause
// A crash between two parts leaves some parts of the older writing in the stage, and all of the newer one.
#include "aggregation/commit/superseded_group.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "aggregation/commit/held_set.hpp"
#include "aggregation/commit/locked_parts.hpp"
#include "restart/base/log.hpp"
#include "restart/base/read_marks.hpp"

namespace mcr::aggregation {

using restart::File;
using restart::LaunchDirectory;
using State = restart::LaunchDirectory::State;

namespace {

/// True if the newer part was begun over this part's stub, so that the stub was at its path then, and not moved to another
/// file system.
bool was_overwritten(const DrainGroup& group, const LockedPart& part) {
  return std::find(group.replaced.begin(), group.replaced.end(), part.id) != group.replaced.end();
}

/// True if no name leads to the part any more. If the file system shows reads, the stub was not copied either.
bool is_out_of_reach(const DrainGroup& group, const LockedPart& part, StubHandles& stubs) {
  if (part.is_native || (part.journal.publish && part.journal.publish->shows_older)) return false;
  if (stubs.find(part.id).fate != StubHandles::Fate::removed) return false;
  if (!stubs.may_have_been_copied(part.id)) return true;
  const File stub = stubs.open_to_read(part.id);
  return was_overwritten(group, part) && stub.is_open() && !restart::shows_reads(stub);
}

}  // namespace

std::optional<DrainDone> drop_superseded(const LaunchDirectory& directory, const DrainGroup& group,
                                         Summary& summary, StubHandles& stubs) {
  if (!group.is_superseded) return std::nullopt;
  std::vector<LockedPart> locked = lock_parts(directory, group.parts);
  if (group.held != nullptr) group.held->unlock();
  stubs.receive();
  const bool are_all_locked = locked.size() == group.parts.size();
  const bool are_out_of_reach =
      std::all_of(locked.begin(), locked.end(),
                  [&](const LockedPart& part) { return is_out_of_reach(group, part, stubs); });
  const bool is_newer_taken_back =
      std::any_of(group.newer.begin(), group.newer.end(),
                  [&](const restart::PartId& part) { return directory.is_in(State::open, part); });
  if (!are_all_locked || !are_out_of_reach || is_newer_taken_back) return std::nullopt;
  DrainDone done;
  done.drain = group.drain;
  done.is_dropped = true;
  for (LockedPart& part : locked) {
    part.bytes = File();
    if (const auto freed = directory.free_part(part.id, part.journal.begin.rank); !freed) {
      restart::log_warning_once("superseded", freed.error().message);
      continue;
    }
    done.committed.push_back(part.id);
  }
  summary.unflushed(done.committed.size());
  restart::log_summary("replaced in memory by a newer set, and not brought to storage (flush=): " +
                       group.set.masked_name + ", writing " + std::to_string(group.set.sequence) +
                       ", " + std::to_string(done.committed.size()) + " parts");
  return done;
}

}  // namespace mcr::aggregation
