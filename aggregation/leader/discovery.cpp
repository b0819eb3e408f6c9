// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/leader/discovery.hpp"

#include <algorithm>
#include <string_view>

#include "aggregation/leader/part_facts.hpp"
#include "restart/base/log.hpp"

namespace mcr::aggregation {

using restart::LaunchDirectory;

Result<std::vector<Event>> Discovery::scan() {
  std::vector<Event> events;
  // Scan processes before parts. Otherwise a process could publish its part and end between the two
  // scans, and the part would look like one that a dead writer left open.
  MCR_TRY(scan_processes(events));
  MCR_TRY(scan_parts(events));
  report_unranked(events);
  report_strangers(events);
  return events;
}

void Discovery::forget(const std::vector<PartId>& parts) {
  for (const PartId& part : parts) {
    parts_.erase(part);
    if (!directory_.is_in(LaunchDirectory::State::published, part)) forget_elsewhere(part);
  }
}

void Discovery::remember(const restart::PartBegin& begin) {
  if (stubs_ != nullptr) stubs_->remember(begin);
  if (requests_ != nullptr) requests_->remember(begin);
  if (clock_ != nullptr) clock_->remember(begin);
}

void Discovery::forget_elsewhere(const PartId& part) {
  if (stubs_ != nullptr) stubs_->forget(part);
  if (requests_ != nullptr) requests_->forget(part);
}

Result<void> Discovery::scan_processes(std::vector<Event>& events) {
  const auto presences = MCR_TRY(directory_.presences());
  std::set<std::string> seen;
  for (const auto& presence : presences) {
    seen.insert(presence.name);
    const auto [known, is_new] = processes_.try_emplace(presence.name);
    if (is_new) events.emplace_back(RankJoined{presence.name, presence.rank});
    for (const std::string& pattern : presence.native_patterns) {
      if (known->second.native_patterns.insert(pattern).second)
        events.emplace_back(PatternWrittenNatively{presence.name, pattern});
    }
    if (presence.ended && !known->second.ended) {
      known->second.ended = true;
      events.emplace_back(RankEnded{presence.name, presence.status == 0, presence.all_have_begun});
    }
    if (!presence.alive && known->second.alive) {
      known->second.alive = false;
      events.emplace_back(RankGone{presence.name});
    }
  }
  for (auto& [name, process] : processes_) {
    if (process.alive && !seen.contains(name)) {
      process.alive = false;
      events.emplace_back(RankGone{name});
    }
  }
  return {};
}

namespace {

std::uint64_t begin_ns_of(const Event& event) {
  if (const auto* begun = std::get_if<PartBegun>(&event)) return begun->facts.begin_ns;
  if (const auto* published = std::get_if<PartPublished>(&event)) return published->facts.begin_ns;
  return 0;  // an event without facts is about a part that is already known
}

}  // namespace

Result<void> Discovery::scan_parts(std::vector<Event>& events) {
  const auto open = MCR_TRY(directory_.list(LaunchDirectory::State::open));
  const auto published = MCR_TRY(directory_.list(LaunchDirectory::State::published));
  std::map<PartId, Place> there;
  for (const PartId& id : open) there[id] = Place::open;
  for (const PartId& id : published) there[id] = Place::published;
  const auto first = static_cast<std::ptrdiff_t>(events.size());
  for (const auto& [id, place] : there) {
    const auto known = parts_.find(id);
    if (known == parts_.end()) {
      report(id, place, events);
    } else if (known->second.place != place) {
      known->second.place = place;
      if (place == Place::open) {
        events.emplace_back(PartWithdrawn{id});
      } else {
        parts_.erase(known);
        report(id, place, events);
      }
    }
  }
  // Sorts by time of begin, because sets are numbered in that order, and part ids are random.
  std::stable_sort(events.begin() + first, events.end(),
                   [](const Event& a, const Event& b) { return begin_ns_of(a) < begin_ns_of(b); });
  for (auto known = parts_.begin(); known != parts_.end();) {
    const PartId id = known->first;
    // A journal that was renamed between the two listings may be in neither list.
    const bool gone = !there.contains(id) && !directory_.is_in(LaunchDirectory::State::open, id) &&
                      !directory_.is_in(LaunchDirectory::State::published, id);
    if (gone) events.emplace_back(PartDropped{id});
    if (gone) forget_elsewhere(id);
    known = gone ? parts_.erase(known) : std::next(known);
  }
  return {};
}

/// True if no process of the launch lives. A process takes its presence's lock before it begins a
/// part, and keeps it longer than the part.
bool Discovery::nobody_lives() const {
  const auto lives = directory_.anybody_lives();
  return lives && !*lives;
}

void Discovery::report(const PartId& id, Place place, std::vector<Event>& events) {
  const auto journal = directory_.journal(
      place == Place::open ? LaunchDirectory::State::open : LaunchDirectory::State::published, id);
  if (!journal) {
    // If the journal was just renamed, or its begin record is not written yet, the next scan reads
    // it. A published part with a damaged journal stays in the stage. An open part without a begin
    // record is dropped if its writer is dead: the part was never closed, and its path is not
    // known.
    if (place == Place::open && journal.error().cause == Cause::damaged && nobody_lives()) {
      if (!directory_.journal(LaunchDirectory::State::open, id))
        (void)directory_.drop(id).has_value();
      return;
    }
    if (place == Place::published && journal.error().cause == Cause::damaged &&
        unreadable_.insert(id).second) {
      restart::log_warning("part " + id.text() + " stays in the stage: " + journal.error().message);
    }
    return;
  }
  remember(journal->begin);
  PartFacts facts = facts_of(*journal);
  facts.is_amendment = !directory_.is_of(facts.launch);
  const bool stays_native = journal->publish && journal->publish->native;
  if (facts.is_amendment || stays_native) facts.bundle_family.clear();
  const bool is_guess = facts.may_be_lone && !facts.is_amendment;
  parts_[id] = {place, facts.presence, facts.rank, is_guess ? facts.family : std::string()};
  if (place == Place::open) {
    events.emplace_back(PartBegun{std::move(facts)});
    return;
  }
  const restart::PartPublish publish = journal->publish.value_or(restart::PartPublish{});
  events.emplace_back(PartPublished{std::move(facts), publish.publish_ns, publish.durable,
                                    publish.native.has_value(), publish.size});
}

/// Reports the families that a rank has marked as unranked (vol/capture/unranked_family), among
/// those of the known parts.
void Discovery::report_unranked(std::vector<Event>& events) {
  std::set<std::string_view> asked;
  for (const auto& [id, part] : parts_) {
    if (part.family.empty() || unranked_.contains(part.family)) continue;
    if (!asked.insert(part.family).second || !directory_.is_marked_native(part.family)) continue;
    unranked_.insert(part.family);
    events.emplace_back(FamilyUnranked{part.family});
  }
}

/// Reports the writer of a part as gone if it no longer has a file in ranks/.
void Discovery::report_strangers(std::vector<Event>& events) {
  for (const auto& [id, part] : parts_) {
    if (processes_.contains(part.presence)) continue;
    processes_[part.presence] = {false, false};
    events.emplace_back(RankJoined{part.presence, part.rank});
    events.emplace_back(RankGone{part.presence});
  }
}

}  // namespace mcr::aggregation
