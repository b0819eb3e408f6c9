// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/leader/discovery.hpp"

#include <algorithm>

#include "aggregation/commit/commit_options.hpp"
#include "restart/base/log.hpp"
#include "restart/masked_name.hpp"

namespace mcr::aggregation {

using restart::LaunchDirectory;

PartFacts facts_of(const restart::Journal& journal) {
  const restart::PartBegin& begin = journal.begin;
  const restart::Settings settings = settings_of(begin);

  PartFacts facts;
  facts.part = begin.part;
  facts.launch = begin.launch;
  facts.sequence = begin.sequence;
  facts.rank = begin.rank;
  facts.rank_count = begin.rank_count;
  facts.local_rank_count = begin.local_rank_count;
  facts.path = begin.path;
  facts.presence = begin.presence;
  facts.begin_ns = begin.begin_ns;
  facts.set_wait_ms = settings.milliseconds("set_wait");
  facts.group_size = static_cast<std::uint32_t>(settings.count("group_size"));
  facts.keep = static_cast<std::uint32_t>(settings.count("keep"));
  for (const std::string& name : begin.masked_names) {
    facts.names.push_back({name, restart::pattern_of(name)});
  }
  if (facts.names.empty()) facts.names.push_back({begin.path, restart::pattern_of(begin.path)});
  const std::string& likeliest = facts.names.front().masked_name;
  const bool has_rank = likeliest.find("{rank") != std::string::npos;
  const bool has_part = likeliest.find("{part}") != std::string::npos;
  facts.writers = has_rank || has_part ? begin.rank_count : 1;
  const auto files = settings.text("files");
  // A file with a life of its own, of a program of one process. gc=on removes each alone, a native
  // file that it replaces is seen to alone.
  const bool is_alone = begin.rank_count == 1 && begin.rank == 0 && facts.names.size() == 1 &&
                        likeliest == begin.path && facts.keep == 0 && !settings.flag("gc") &&
                        begin.replaced != restart::Replaced::native_file;
  if (is_alone) {
    const auto name =
        restart::bundle_name(likeliest, settings.text("container_dir"), begin.launch, begin.part);
    facts.block = begin.part.block();
    facts.family = name.directory + "\n" + name.prefix.substr(0, name.prefix.size() - 18) + "\n" +
                   begin.settings;
  }
  facts.may_be_lone = has_rank && begin.rank_count > 1 && (files.empty() || files == "auto");
  return facts;
}

Result<std::vector<Event>> Discovery::scan() {
  std::vector<Event> events;
  // Processes first: a part of a process that was alive then is not taken for a dead writer's.
  MCR_TRY(scan_processes(events));
  MCR_TRY(scan_parts(events));
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
    if (presence.ended && !known->second.ended) {
      known->second.ended = true;
      events.emplace_back(RankEnded{presence.name, presence.status == 0});
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
  return 0;  // of a part that is known
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
  // Part ids are random; sets count in the order in which they were begun.
  std::stable_sort(events.begin() + first, events.end(),
                   [](const Event& a, const Event& b) { return begin_ns_of(a) < begin_ns_of(b); });
  for (auto known = parts_.begin(); known != parts_.end();) {
    const PartId id = known->first;
    // A journal that moved while the two directories were read is in neither list.
    const bool gone = !there.contains(id) && !directory_.is_in(LaunchDirectory::State::open, id) &&
                      !directory_.is_in(LaunchDirectory::State::published, id);
    if (gone) events.emplace_back(PartDropped{id});
    if (gone) forget_elsewhere(id);
    known = gone ? parts_.erase(known) : std::next(known);
  }
  return {};
}

/// Whoever begins a part holds its presence's lock before and after.
bool Discovery::nobody_lives() const {
  const auto lives = directory_.anybody_lives();
  return lives && !*lives;
}

void Discovery::report(const PartId& id, Place place, std::vector<Event>& events) {
  const auto journal = directory_.journal(
      place == Place::open ? LaunchDirectory::State::open : LaunchDirectory::State::published, id);
  if (!journal) {
    // Just moved on, or its begin record is not yet written: the next scan sees. A published one
    // that cannot be read stays where it is. One whose writer died before it could say a word of
    // it goes: nothing was closed, and nobody would ever know what it is.
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
  if (facts.is_amendment || stays_native) facts.family.clear();
  parts_[id] = {place, facts.presence, facts.rank};
  if (place == Place::open) {
    events.emplace_back(PartBegun{std::move(facts)});
    return;
  }
  const restart::PartPublish publish = journal->publish.value_or(restart::PartPublish{});
  events.emplace_back(PartPublished{std::move(facts), publish.publish_ns, publish.durable,
                                    publish.native.has_value(), publish.size});
}

/// Parts whose writer has no file below ranks/ any more: it is gone.
void Discovery::report_strangers(std::vector<Event>& events) {
  for (const auto& [id, part] : parts_) {
    if (processes_.contains(part.presence)) continue;
    processes_[part.presence] = {false, false};
    events.emplace_back(RankJoined{part.presence, part.rank});
    events.emplace_back(RankGone{part.presence});
  }
}

}  // namespace mcr::aggregation
