// SPDX-License-Identifier: BSD-3-Clause
// Events change what is known; on() then applies the rules: which set a part belongs to
// (set_rules.cpp), and what is done with it (action_rules.cpp).
#include "aggregation/leader/decisions.hpp"

#include <algorithm>

namespace mcr::aggregation {

namespace {

constexpr std::uint32_t lone_sets_until_native = 2;

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
  treat_unranked();
  put_back_requested();
  settle_dead_writers();
  look_for_siblings();
  if (anybody_may_write()) ended_ms_.reset();
  if (!anybody_may_write() && !ended_ms_) ended_ms_ = now_ms_;
  drain_ripe_sets();
  tell_safe();
  note_accounts();
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

std::uint64_t Decisions::pending_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& [id, part] : parts_)
    if (part.state != State::open && part.state != State::settling) bytes += part.size;
  return bytes;
}

void Decisions::apply(const RankJoined& event) {
  ranks_.try_emplace(event.presence, Rank{event.rank, true, false});
  if (!first_join_ms_) first_join_ms_ = now_ms_;
}

void Decisions::apply(const PatternWrittenNatively& event) {
  const auto found = ranks_.find(event.presence);
  if (found == ranks_.end()) return;
  patterns_[event.pattern].possible_writers.insert(found->second.rank);
  for (auto& [name, set] : sets_) {
    const auto& passed = set.told.passed;
    // A container says that this rank passed. It was late, so counts of the set prove nothing.
    if (set.pattern != event.pattern || set.drifted ||
        std::find(passed.begin(), passed.end(), found->second.rank) == passed.end())
      continue;
    mark_drifted(set);
  }
}

void Decisions::apply(const RankEnded& event) {
  if (const auto found = ranks_.find(event.presence); found != ranks_.end()) {
    found->second.ended = true;
    found->second.regular = event.regular;
    found->second.all_have_begun = event.all_have_begun;
  }
  if (!anybody_may_write()) {  // parts that storage refused get their last tries now
    for (auto& [id, part] : parts_) part.hold_until_ms = 0;
  }
}

void Decisions::apply(const RankGone& event) {
  if (const auto found = ranks_.find(event.presence); found != ranks_.end())
    found->second.alive = false;
  if (!anybody_lives()) begin_last_tries();
}

void Decisions::apply(const PartBegun& event) { part(event.facts); }

void Decisions::apply(const PartPublished& event) {
  Part& published = part(event.facts);
  if (published.state != State::open) return;
  published.state = State::published;
  published.published_ms = now_ms_;
  published.publish_ns = event.publish_ns;
  published.durable = event.durable;
  published.size = event.size;
  published.has_company = event.native;
  published.must_drain = event.native;
  if (published.set) place_in_set(published, 0);
}

void Decisions::apply(const PartWithdrawn& event) {
  const auto found = parts_.find(event.part);
  if (found == parts_.end() || found->second.state == State::open) return;
  Part& withdrawn = found->second;
  withdrawn.state = State::open;
  withdrawn.lookup_sent = false;
  withdrawn.looks = 0;
  if (withdrawn.set) {
    Set& set = sets_.at(*withdrawn.set);
    set.wrote.erase(withdrawn.facts.rank);
    set.whole_ms.reset();
  }
}

/// A request for a part that is still written is kept until the part is published.
void Decisions::apply(const PartRequested& event) {
  const auto found = parts_.find(event.part);
  if (found == parts_.end()) return;
  found->second.requested = true;
  found->second.wanted_native |= event.native;
}

void Decisions::apply(const PartDropped& event) {
  const auto found = parts_.find(event.part);
  if (found == parts_.end()) return;
  const State state = found->second.state;
  found->second.dropped = true;
  if (found->second.set) sets_.at(*found->second.set).whole_ms.reset();
  if (state != State::draining && state != State::putting_back && state != State::settling) {
    forget(event.part);
  }
}

void Decisions::apply(const SiblingsLookedUp& event) {
  const auto found = parts_.find(event.part);
  if (found == parts_.end() || found->second.state != State::published) return;
  Part& single = found->second;
  single.lookup_sent = false;
  const PartFacts& facts = single.facts;
  if (event.name && *event.name >= facts.names.size()) {
    if (!facts.lone_name.empty() && !single.is_alone) stand_alone(single);
    return;
  }
  // Native files that any rank may have written are weak evidence. They decide only if no better
  // evidence can come any more, and if the part would otherwise be drained, not put back.
  const bool stays =
      !facts.may_be_lone || !facts.lone_name.empty() || is_urgent(single) || single.requested;
  const bool decides = event.is_certain || !facts.may_be_lone || (single.is_last_look && stays);
  if (event.name && decides) {
    single.has_company = true;
    if (!single.set) place_in_set(single, *event.name);
    if (event.is_certain) patterns_[sets_.at(*single.set).pattern].proven = true;
    return;
  }
  if (!single.set) place_in_set(single, event.name.value_or(0));
  if (!may_be_lone(single)) return;  // another rank's file was found meanwhile
  const bool looks_again = event.name || !facts.lone_name.empty();
  if (looks_again && !single.is_last_look) return;
  if (facts.lone_name.empty()) {
    put_back_lone(single);
  } else {
    stand_alone(single);
  }
}

/// Puts the part back as a native file: one rank alone writes files of this pattern, or their
/// numbers are not ranks.
void Decisions::put_back_lone(Part& part) {
  Set& set = sets_.at(*part.set);
  if (!set.counted_lone) {
    set.counted_lone = true;
    Pattern& pattern = patterns_[set.pattern];
    if (++pattern.lone_sets >= lone_sets_until_native) {
      mark_native(set.pattern, "only one rank writes files with such names");
    }
  }
  put_back(part, PutBackReason::lone);
}

void Decisions::apply(const DrainDone& event) {
  if (!event.committed.empty() && !event.is_dropped) {  // storage works, for these parts at least
    for (auto& [id, part] : parts_) part.last_tries = 0;
  }
  for (const PartId& id : event.committed) {
    const auto found = parts_.find(id);
    if (found == parts_.end() || found->second.drain != event.drain) continue;
    const SetName name = *found->second.set;
    forget(id);
    Set& set = sets_.at(name);
    if (event.is_dropped) {
      set.whole_ms.reset();
      continue;
    }
    set.failures = 0;
    set.committed = true;
    if (set.keep > 0 && !terminating_) {
      set.kept.push_back(id);
      keep_set(name, set);
    }
  }
  std::set<const Set*> counted;
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
    if (counted.insert(&set).second) {
      ++set.failures;
      if (event.place_went_away) {
        // Only the directories went away: storage works and the parts are intact, so later files
        // are captured.
      } else if (event.storage_failed) {
        if (!storage_failed_) out_.emplace_back(StorageFailed{});
        storage_failed_ = true;
      } else {
        mark_native(set.pattern, "files with such names could not be merged into a container");
      }
    }
    const bool may_work_later = event.storage_failed || event.place_went_away;
    put_back(failed, may_work_later ? PutBackReason::storage_failed : PutBackReason::part_refused);
  }
  for (const PartId& id : event.without_stub) {
    const auto found = parts_.find(id);
    if (found == parts_.end() || found->second.drain != event.drain ||
        found->second.state != State::draining) {
      continue;
    }
    Part& waiting = found->second;
    if (waiting.dropped) {
      forget(id);
      continue;
    }
    Set& set = sets_.at(*waiting.set);
    set.committed = true;
    if (counted.insert(&set).second) ++set.failures;
    hold(waiting);
  }
  // The other parts were removed, withdrawn or dropped meanwhile, and are in no container.
  for (const PartId& id : draining_[event.drain]) {
    const auto found = parts_.find(id);
    if (found != parts_.end() && found->second.state == State::draining &&
        found->second.drain == event.drain) {
      if (found->second.set) sets_.at(*found->second.set).whole_ms.reset();
      forget(id);
    }
  }
  draining_.erase(event.drain);
}

void Decisions::apply(const SetHeld& event) {
  for (const PartId& id : draining_[event.drain]) {
    const auto found = parts_.find(id);
    if (found == parts_.end() || found->second.state != State::draining ||
        found->second.drain != event.drain)
      continue;
    if (found->second.dropped) {
      forget(id);
    } else {
      found->second.state = State::published;
    }
  }
  draining_.erase(event.drain);
  const auto set = sets_.find(event.set);
  if (set == sets_.end()) return;
  set->second.held_ms = now_ms_;
  if (!event.is_held) {
    set->second.hold = Set::Hold::refused;
  } else if (set->second.hold == Set::Hold::asked) {  // SetReplicated may have come before
    set->second.hold = Set::Hold::held;
  }
}

void Decisions::apply(const SetReplicated& event) {
  const auto set = sets_.find(event.set);
  if (set == sets_.end()) return;
  const Set::Hold hold = set->second.hold;
  if (hold == Set::Hold::none || hold == Set::Hold::refused) return;
  set->second.hold = event.is_refused ? Set::Hold::refused : Set::Hold::replicated;
  if (event.is_refused) lost_replica_.insert(event.set);
}

void Decisions::apply(const SetAgreed& event) {
  const auto set = sets_.find(event.set);
  if (set == sets_.end()) return;
  set->second.is_safe_everywhere = true;
  patterns_[set->second.pattern].held_in_vain = 0;
}

void Decisions::apply(const PutBackDone& event) {
  const auto found = parts_.find(event.part);
  if (found == parts_.end() || found->second.state != State::putting_back) return;
  Part& part = found->second;
  if (event.end == PutBackEnd::done || part.dropped) {
    forget(event.part);
    return;
  }
  if (event.end == PutBackEnd::taken_back) return apply(PartWithdrawn{event.part});
  must_drain(part);
  const bool healthy =
      part.reason == PutBackReason::lone || part.reason == PutBackReason::requested;
  if (healthy) return;  // the part is now handled like any other part
  hold(part);
}

/// The part is published again, and is not put back any more.
void Decisions::must_drain(Part& part) {
  part.state = State::published;
  part.has_company = true;
  part.must_drain = true;
  part.wanted_native = false;
}

/// Storage refused the part: it is drained again after a pause.
void Decisions::hold(Part& part) {
  must_drain(part);
  if (!anybody_lives() || terminating_) ++part.last_tries;
  // `failures` is 0 if another group of the set was committed after this one failed.
  const std::uint32_t failures = std::max(sets_.at(*part.set).failures, 1U);
  const std::uint64_t pause =
      std::min(patience_.retry_max_ms, patience_.retry_ms << std::min(failures - 1, 16U));
  part.hold_until_ms = now_ms_ + pause;
}

void Decisions::apply(const SettleDone& event) {
  const auto found = parts_.find(event.part);
  if (found == parts_.end()) return;
  Part& part = found->second;
  // While processes live, the number of tries is not limited: one of the processes may be writing
  // the file, and will publish it or die.
  if (!anybody_lives() || terminating_) ++part.settle_tries;
  if (event.done || part.dropped || part.settle_tries >= patience_.last_tries) {
    forget(event.part);
    return;
  }
  part.state = State::open;
  part.hold_until_ms = now_ms_ + patience_.retry_ms;
}

void Decisions::apply(const Terminate&) {
  terminating_ = true;
  begin_last_tries();
}

void Decisions::begin_last_tries() {
  for (auto& [id, part] : parts_) part.hold_until_ms = part.last_tries = 0;
}

}  // namespace mcr::aggregation
