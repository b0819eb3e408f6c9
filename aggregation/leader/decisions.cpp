// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/leader/decisions.hpp"

#include <algorithm>

namespace mcr::aggregation {

namespace {

constexpr std::uint32_t lone_sets_until_native = 2;
constexpr std::uint32_t drifted_sets_until_native = 3;
constexpr std::size_t remembered_sets = 4096;

}  // namespace

std::vector<Decision> Decisions::on(const std::vector<Event>& events, std::uint64_t now_ms) {
  if (exited_) return {};
  now_ms_ = std::max(now_ms_, now_ms);
  if (!start_ms_) start_ms_ = now_ms_;
  out_.clear();
  wake_ms_.reset();
  for (const Event& event : events) {
    std::visit([this](const auto& it) { apply(it); }, event);
  }
  name_parts();
  look_for_siblings();
  drain_ripe_sets();
  settle_dead_writers();
  consider_exit();
  return std::move(out_);
}

std::size_t Decisions::pending() const {
  return static_cast<std::size_t>(
      std::count_if(parts_.begin(), parts_.end(), [](const auto& entry) {
        const State state = entry.second.state;
        return state != State::open && state != State::settling;
      }));
}

// --- events
// -------------------------------------------------------------------------------------------

void Decisions::apply(const RankJoined& event) {
  ranks_.try_emplace(event.presence, Rank{event.rank, true, false});
}

void Decisions::apply(const RankEnded& event) {
  if (const auto found = ranks_.find(event.presence); found != ranks_.end()) {
    found->second.ended = true;
    found->second.regular = event.regular;
  }
  if (!anybody_may_write()) {  // what storage refused gets its last tries at once
    for (auto& [id, part] : parts_) part.hold_until_ms = 0;
  }
}

void Decisions::apply(const RankGone& event) {
  if (const auto found = ranks_.find(event.presence); found != ranks_.end())
    found->second.alive = false;
  if (!anybody_lives()) {
    failed_rounds_ = 0;
    for (auto& [id, part] : parts_) part.hold_until_ms = 0;
  }
}

void Decisions::apply(const PartBegun& event) { part(event.facts); }

void Decisions::apply(const PartPublished& event) {
  Part& published = part(event.facts);
  if (published.state != State::open) return;
  published.state = State::published;
  published.published_ms = now_ms_;
  published.publish_ns = event.publish_ns;
  published.durable = event.durable;
  published.has_company = event.native;
  if (published.set) place_in_set(published, 0);
}

void Decisions::apply(const PartWithdrawn& event) {
  const auto found = parts_.find(event.part);
  if (found == parts_.end() || found->second.state == State::open) return;
  Part& withdrawn = found->second;
  withdrawn.state = State::open;
  withdrawn.lookup_sent = false;
  if (withdrawn.set) sets_.at(*withdrawn.set).wrote.erase(withdrawn.facts.rank);
}

void Decisions::apply(const PartDropped& event) {
  const auto found = parts_.find(event.part);
  if (found == parts_.end()) return;
  const State state = found->second.state;
  found->second.dropped = true;
  if (state != State::draining && state != State::putting_back && state != State::settling) {
    forget(event.part);
  }
}

void Decisions::apply(const SiblingsLookedUp& event) {
  const auto found = parts_.find(event.part);
  if (found == parts_.end() || found->second.state != State::published) return;
  Part& single = found->second;
  if (event.name && *event.name < single.facts.names.size()) {
    single.has_company = true;
    if (!single.set) place_in_set(single, *event.name);
    patterns_[sets_.at(*single.set).pattern].proven = true;
    return;
  }
  if (!single.set) place_in_set(single, 0);
  if (!may_be_lone(single)) return;  // company came while the names were looked up
  Set& set = sets_.at(*single.set);
  if (!set.counted_lone) {
    set.counted_lone = true;
    Pattern& pattern = patterns_[set.pattern];
    if (++pattern.lone_sets >= lone_sets_until_native) {
      mark_native(set.pattern, "one rank alone writes files of this shape");
    }
  }
  put_back(single, PutBackReason::lone);
}

void Decisions::apply(const DrainDone& event) {
  std::optional<SetName> name;
  std::vector<PartId> kept;
  for (const PartId& id : event.committed) {
    const auto found = parts_.find(id);
    if (found == parts_.end() || found->second.drain != event.drain) continue;
    name = found->second.set;
    kept.push_back(id);
    forget(id);
  }
  if (name) {
    Set& set = sets_.at(*name);
    set.failures = 0;
    if (set.keep > 0 && !terminating_) {
      set.kept.insert(set.kept.end(), kept.begin(), kept.end());
      keep_set(*name, set);
    }
  }
  bool counted = false;
  for (const PartId& id : event.failed) {
    const auto found = parts_.find(id);
    if (found == parts_.end() || found->second.drain != event.drain ||
        found->second.state != State::draining) {
      continue;
    }
    Part& failed = found->second;
    if (failed.dropped) {
      forget(id);
      continue;
    }
    Set& set = sets_.at(*failed.set);
    if (!counted) {
      counted = true;
      ++set.failures;
      if (event.storage_failed) {
        if (!storage_failed_) out_.emplace_back(StorageFailed{});
        storage_failed_ = true;
      } else {
        mark_native(set.pattern, "parts of this shape could not be merged");
      }
    }
    put_back(failed,
             event.storage_failed ? PutBackReason::storage_failed : PutBackReason::part_refused);
  }
  // In neither list: withdrawn or dropped meanwhile. What became of it comes as events of its own.
  for (auto entry = parts_.begin(); entry != parts_.end();) {
    const bool lost = entry->second.state == State::draining && entry->second.drain == event.drain;
    entry = lost ? parts_.erase(entry) : std::next(entry);
  }
}

void Decisions::apply(const PutBackDone& event) {
  const auto found = parts_.find(event.part);
  if (found == parts_.end() || found->second.state != State::putting_back) return;
  Part& part = found->second;
  if (event.done || part.dropped) {
    forget(event.part);
    return;
  }
  part.state = State::published;
  part.has_company = true;
  if (part.reason == PutBackReason::lone) return;  // it goes the way of every other part
  const std::uint32_t failures = sets_.at(*part.set).failures;
  const std::uint64_t pause =
      std::min(patience_.retry_max_ms, patience_.retry_ms << std::min(failures - 1, 16U));
  part.hold_until_ms = now_ms_ + pause;
  if (!anybody_lives() || terminating_) ++failed_rounds_;
}

void Decisions::apply(const SettleDone& event) { forget(event.part); }

void Decisions::apply(const Terminate&) {
  terminating_ = true;
  failed_rounds_ = 0;
  for (auto& [id, part] : parts_) part.hold_until_ms = 0;
}

// --- what follows from them
// ---------------------------------------------------------------------------

Decisions::Part& Decisions::part(const PartFacts& facts) {
  const auto [found, is_new] = parts_.try_emplace(facts.part);
  Part& part = found->second;
  if (!is_new) return part;
  part.facts = facts;
  if (part.facts.names.size() == 1) place_in_set(part, 0);
  return part;
}

/// Makes the part one of its set. Called again when it is published (`name` has no meaning then).
void Decisions::place_in_set(Part& part, std::size_t name) {
  const PartFacts& facts = part.facts;
  if (!part.set) part.set = SetName{facts.launch, facts.names[name].masked_name, facts.sequence};
  const auto [found, is_new] = sets_.try_emplace(*part.set);
  Set& set = found->second;
  if (is_new) {
    set.order = ++last_order_;
    set.pattern = facts.names[name].pattern;
    set.first_begin_ns = facts.begin_ns;
    set.first_beginner = facts.rank;
    forget_old_sets();
  }
  set.rank_count = std::max(set.rank_count, facts.rank_count);
  set.writers = std::max(set.writers, facts.writers);
  set.local_rank_count = std::max(set.local_rank_count, facts.local_rank_count);
  set.set_wait_ms = facts.set_wait_ms;
  set.group_size = facts.group_size;
  set.keep = facts.keep;
  if (facts.begin_ns < set.first_begin_ns) {
    set.first_begin_ns = facts.begin_ns;
    set.first_beginner = facts.rank;
  }
  Pattern& pattern = patterns_[set.pattern];
  std::uint64_t& newest = pattern.newest_begun[facts.rank];
  newest = std::max(newest, set.order);
  if (part.state == State::published) {
    set.wrote.insert(facts.rank);
    set.last_publish_ms = now_ms_;
    if (part.publish_ns > set.last_publish_ns) {
      set.last_publish_ns = part.publish_ns;
      set.last_publisher = facts.rank;
    }
    note_drift(*part.set, set);
  }
  if (facts.sequence > 0) {
    const auto before =
        sets_.find(SetName{facts.launch, part.set->masked_name, facts.sequence - 1});
    if (before != sets_.end()) note_drift(before->first, before->second);
  }
  const bool others =
      !set.wrote.empty() && (set.wrote.size() > 1 || !set.wrote.contains(facts.rank));
  if (others) {
    pattern.proven = true;
    if (set.counted_lone) {  // the file was not lone, only early
      set.counted_lone = false;
      --pattern.lone_sets;
    }
  }
}

/// A rank that began its next writing before all had finished this one: their counts prove nothing.
void Decisions::note_drift(const SetName& name, Set& set) {
  if (set.drifted) return;
  const auto next = sets_.find(SetName{name.launch, name.masked_name, name.sequence + 1});
  if (next == sets_.end() || set.last_publish_ns == 0) return;
  if (next->second.first_beginner == set.last_publisher) return;
  if (next->second.first_begin_ns >= set.last_publish_ns) return;
  set.drifted = true;
  if (++patterns_[set.pattern].drifted_sets >= drifted_sets_until_native) {
    mark_native(set.pattern, "ranks rewrite these files without waiting for one another");
  }
}

/// Gives ambiguous parts a name as soon as other parts speak for one of their candidates.
void Decisions::name_parts() {
  for (auto& [id, part] : parts_) {
    if (part.set) continue;
    const auto& names = part.facts.names;
    const bool late =
        part.state == State::published && now_ms_ >= part.published_ms + patience_.lone_ms;
    std::vector<std::uint32_t> supports(names.size());
    std::vector<std::uint32_t> maybe(names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto pattern = patterns_.find(names[i].pattern);
      if (pattern != patterns_.end() && pattern->second.proven) ++supports[i];
      const SetName name{part.facts.launch, names[i].masked_name, part.facts.sequence};
      for (const auto& [other_id, other] : parts_) {
        if (other.facts.rank == part.facts.rank || other.facts.sequence != part.facts.sequence)
          continue;
        if (other.set) {
          supports[i] += *other.set == name ? 1 : 0;
        } else if (late) {
          maybe[i] +=
              std::any_of(other.facts.names.begin(), other.facts.names.end(),
                          [&](const auto& it) { return it.masked_name == names[i].masked_name; })
                  ? 1
                  : 0;
        }
      }
      if (const auto set = sets_.find(name); set != sets_.end()) {
        supports[i] += static_cast<std::uint32_t>(set->second.wrote.size());
      }
    }
    int chosen = choose_name(names, supports, maybe);
    // Nobody will speak for it: the likeliest.
    if (chosen < 0 && (terminating_ || part.facts.writers <= 1 || part.has_company)) chosen = 0;
    if (chosen >= 0) place_in_set(part, static_cast<std::size_t>(chosen));
  }
}

/// No other rank is known to have written a file of this name or shape.
bool Decisions::may_be_lone(const Part& part) const {
  if (!part.facts.may_be_lone || part.has_company || terminating_) return false;
  if (!part.set) return true;
  const Set& set = sets_.at(*part.set);
  if (patterns_.at(set.pattern).proven) return false;
  for (const auto& [id, other] : parts_) {
    if (other.set == part.set && other.facts.rank != part.facts.rank) return false;
  }
  return true;
}

void Decisions::look_for_siblings() {
  for (auto& [id, part] : parts_) {
    if (part.state != State::published || part.lookup_sent || !may_be_lone(part)) continue;
    const std::uint64_t due =
        part.published_ms + (part.durable ? patience_.durable_ms : patience_.lone_ms);
    // Also when all known ranks have ended: others, here or elsewhere, may be about to begin.
    if (now_ms_ >= due) {
      part.lookup_sent = true;
      out_.emplace_back(LookForSiblings{id});
    } else {
      wake_at(due);
    }
  }
}

/// May these published parts of the set be drained, with or without the others?
bool Decisions::is_ripe(const Set& set, const std::vector<Part*>& parts) {
  if (terminating_ || set.writers <= 1 || !anybody_may_write()) return true;
  if (set.wrote.size() >= set.writers) return true;

  std::set<std::uint32_t> accounted = set.wrote;
  bool others_live = false;
  for (const auto& [presence, rank] : ranks_) {
    if (!rank.alive || rank.ended) {
      accounted.insert(rank.rank);
    } else if (!set.wrote.contains(rank.rank)) {
      others_live = true;
    }
  }
  if (set.local_rank_count > 0 && accounted.size() >= set.local_rank_count && !others_live)
    return true;

  const auto due = [this](std::uint64_t time_ms) {
    if (now_ms_ >= time_ms) return true;
    wake_at(time_ms);
    return false;
  };
  bool ripe = due(set.last_publish_ms + set.set_wait_ms);
  if (set.local_rank_count == 0 && !others_live)
    ripe |= due(set.last_publish_ms + patience_.settle_ms);
  for (const Part* part : parts) {
    if (part->durable) ripe |= due(part->published_ms + patience_.durable_ms);
    if (set.failures > 0) ripe = true;  // it was ripe once; only storage was in the way
  }
  return ripe;
}

void Decisions::drain_ripe_sets() {
  std::map<std::uint64_t, std::pair<SetName, std::vector<Part*>>> by_order;
  for (auto& [id, part] : parts_) {
    if (part.state != State::published || !part.set) continue;
    if (part.hold_until_ms > now_ms_) {
      wake_at(part.hold_until_ms);
      continue;
    }
    if (may_be_lone(part)) continue;  // look_for_siblings has it
    auto& entry = by_order[sets_.at(*part.set).order];
    entry.first = *part.set;
    entry.second.push_back(&part);
  }
  for (auto& [order, entry] : by_order) {
    Set& set = sets_.at(entry.first);
    if (is_ripe(set, entry.second)) drain(entry.first, set, std::move(entry.second));
  }
}

void Decisions::drain(const SetName& name, Set& set, std::vector<Part*> parts) {
  std::sort(parts.begin(), parts.end(), [](const Part* a, const Part* b) {
    return std::pair(a->facts.rank, a->facts.begin_ns) <
           std::pair(b->facts.rank, b->facts.begin_ns);
  });
  while (!parts.empty()) {
    // One run of ranks, each path once; what remains of it makes a further container.
    DrainGroup group;
    group.drain = ++last_drain_;
    group.set = name;
    group.rank_count = set.rank_count;
    group.passed_ranks = passed_ranks(set);
    group.keep = set.keep > 0 && !terminating_;
    group.fast = terminating_;
    const std::uint32_t run = group_of(parts.front()->facts.rank, set.group_size);
    group.supplement = set.containers[run]++;
    std::vector<Part*> rest;
    std::set<std::string> paths;
    for (Part* part : parts) {
      if (group_of(part->facts.rank, set.group_size) != run ||
          !paths.insert(part->facts.path).second) {
        rest.push_back(part);
        continue;
      }
      part->state = State::draining;
      part->drain = group.drain;
      group.parts.push_back(part->facts.part);
      group.ranks.push_back(part->facts.rank);
    }
    out_.emplace_back(std::move(group));
    parts = std::move(rest);
  }
}

/// Ranks of this node that certainly had nothing to write for this set: they wrote nothing of its
/// pattern in this launch, and either ended regularly or all that did write have gone on to the
/// next set.
std::vector<std::uint32_t> Decisions::passed_ranks(const Set& set) const {
  const Pattern& pattern = patterns_.at(set.pattern);
  std::set<std::uint32_t> ended;
  for (const auto& [presence, rank] : ranks_) {
    if (rank.regular) ended.insert(rank.rank);
  }
  const bool all_went_on =
      std::all_of(pattern.newest_begun.begin(), pattern.newest_begun.end(), [&](const auto& entry) {
        return set.wrote.contains(entry.first) &&
               (entry.second > set.order || ended.contains(entry.first));
      });
  std::set<std::uint32_t> passed;
  for (const auto& [presence, rank] : ranks_) {
    if (pattern.newest_begun.contains(rank.rank) || rank.rank >= set.rank_count) continue;
    const bool died = (!rank.alive || rank.ended) && !rank.regular;
    if (rank.regular || (all_went_on && !died)) passed.insert(rank.rank);
  }
  return {passed.begin(), passed.end()};
}

void Decisions::settle_dead_writers() {
  for (auto& [id, part] : parts_) {
    if (part.state != State::open) continue;
    const auto writer = ranks_.find(part.facts.presence);
    if (writer == ranks_.end() || writer->second.alive) continue;
    out_.emplace_back(Settle{id});
    part.state = State::settling;
  }
}

void Decisions::put_back(Part& part, PutBackReason reason) {
  part.state = State::putting_back;
  part.reason = reason;
  out_.emplace_back(PutBack{part.facts.part, reason});
}

void Decisions::mark_native(const std::string& shape, const std::string& why) {
  if (marked_.insert(shape).second) out_.emplace_back(MarkNative{shape, why});
}

void Decisions::keep_set(const SetName& name, Set& set) {
  auto& kept = patterns_[set.pattern].kept;
  if (std::find(kept.begin(), kept.end(), name) == kept.end()) kept.push_back(name);
  while (kept.size() > set.keep) {
    if (const auto oldest = sets_.find(kept.front()); oldest != sets_.end()) {
      for (const PartId& id : oldest->second.kept) out_.emplace_back(FreeKept{id});
      oldest->second.kept.clear();
    }
    kept.pop_front();
  }
}

void Decisions::release_kept() {
  for (auto& [name, set] : sets_) {
    for (const PartId& id : set.kept) out_.emplace_back(FreeKept{id});
    set.kept.clear();
  }
  for (auto& [name, pattern] : patterns_) pattern.kept.clear();
}

void Decisions::forget(const PartId& part) { parts_.erase(part); }

void Decisions::forget_old_sets() {
  if (sets_.size() <= remembered_sets) return;
  std::set<SetName> in_use;
  for (const auto& [id, part] : parts_) {
    if (part.set) in_use.insert(*part.set);
  }
  for (auto entry = sets_.begin(); entry != sets_.end();) {
    const bool old = entry->second.order + remembered_sets / 2 < last_order_;
    const bool idle = !in_use.contains(entry->first) && entry->second.kept.empty();
    entry = old && idle ? sets_.erase(entry) : std::next(entry);
  }
}

void Decisions::consider_exit() {
  const bool in_action = std::any_of(parts_.begin(), parts_.end(), [](const auto& entry) {
    const State state = entry.second.state;
    return state == State::draining || state == State::putting_back || state == State::settling;
  });
  if (in_action) return;
  if (!terminating_) {
    if (anybody_lives()) return;
    if (ranks_.empty() && parts_.empty()) {
      // Nobody has joined yet: the process that started us is about to.
      const std::uint64_t due = *start_ms_ + patience_.first_rank_ms;
      if (now_ms_ < due) return wake_at(due);
    }
  }
  const bool waiting = std::any_of(parts_.begin(), parts_.end(), [](const auto& entry) {
    return entry.second.state == State::published;
  });
  if (waiting && failed_rounds_ < patience_.last_tries) return;
  const bool all_ended = std::all_of(ranks_.begin(), ranks_.end(),
                                     [](const auto& entry) { return entry.second.regular; });
  if (all_ended) release_kept();  // after a crash they stay, for a restart at memory speed
  exited_ = true;
  out_.emplace_back(Exit{!waiting});
}

bool Decisions::anybody_lives() const {
  return std::any_of(ranks_.begin(), ranks_.end(),
                     [](const auto& entry) { return entry.second.alive; });
}

bool Decisions::anybody_may_write() const {
  return ranks_.empty() || std::any_of(ranks_.begin(), ranks_.end(), [](const auto& entry) {
           return entry.second.alive && !entry.second.ended;
         });
}

void Decisions::wake_at(std::uint64_t time_ms) {
  if (!wake_ms_ || time_ms < *wake_ms_) wake_ms_ = time_ms;
}

}  // namespace mcr::aggregation
