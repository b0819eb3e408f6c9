// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/mcr/waiting_parts.hpp"

#include <fcntl.h>

#include <set>

#include "restart/base/file.hpp"
#include "restart/stage/file_at.hpp"

namespace mcr::aggregation {

using restart::File;
using restart::LaunchDirectory;

std::vector<WaitingPart> published_parts(const std::string& stage, const LaunchStatus& launch) {
  std::vector<WaitingPart> parts;
  const auto directory = LaunchDirectory::open_in(stage, launch.path);
  const auto ids = directory ? directory->list(LaunchDirectory::State::published)
                             : Result<std::vector<restart::PartId>>(directory.error());
  if (!ids) return parts;
  for (const restart::PartId& id : *ids) {
    const auto journal = directory->journal(LaunchDirectory::State::published, id);
    if (journal)
      parts.push_back({id, journal->begin.path, journal->publish ? journal->publish->size : 0});
  }
  return parts;
}

Outcome outcome_of(const std::vector<WaitingPart>& parts, const std::vector<WaitingPart>& waiting) {
  std::set<restart::PartId> left;
  for (const WaitingPart& part : waiting) left.insert(part.id);
  Outcome outcome;
  for (const WaitingPart& part : parts) {
    if (left.contains(part.id)) {
      ++outcome.waiting;
      continue;
    }
    const auto there = restart::file_at(AT_FDCWD, part.path, restart::Links::not_followed);
    ++(there.kind == restart::FileAt::Kind::plain_file ? outcome.native
       : there.is_stub_of(part.id)                     ? outcome.committed
                                                       : outcome.gone);
  }
  return outcome;
}

std::string outcome_text(const Outcome& outcome) {
  std::string text;
  const auto add = [&](std::size_t count, const std::string& words) {
    if (count > 0) text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + words;
  };
  add(outcome.committed, "committed");
  add(outcome.native, outcome.native == 1 ? "written as a plain file" : "written as plain files");
  add(outcome.gone, "no longer at " + std::string(outcome.gone == 1 ? "its path" : "their paths") +
                        " (the file was renamed, removed or replaced by a newer one)");
  add(outcome.waiting, "still in the stage");
  return text;
}

}  // namespace mcr::aggregation
