// SPDX-License-Identifier: BSD-3-Clause
// The rules of Decisions about sets: to which set a part belongs, whether its rank writes alone,
// whether the set has drifted, and which sets are kept or forgotten.
#include <algorithm>

#include "aggregation/leader/decisions.hpp"

namespace mcr::aggregation {

namespace {

constexpr std::uint32_t drifted_sets_until_native = 3;
constexpr std::size_t remembered_sets = 4096;

}  // namespace

Decisions::Part& Decisions::part(const PartFacts& facts) {
  const auto [found, is_new] = parts_.try_emplace(facts.part);
  Part& part = found->second;
  if (!is_new) return part;
  part.facts = facts;
  for (const CandidateName& name : facts.names)
    patterns_[name.pattern].possible_writers.insert(facts.rank);
  if (facts.is_unranked && !facts.is_amendment) unranked_.insert(facts.family);
  if (!facts.lone_name.empty() && !facts.is_amendment && unranked_.contains(facts.family)) {
    stand_alone(part);
  } else if (part.facts.names.size() == 1) {
    place_in_set(part, 0);
  }
  return part;
}

/// Adds the part to its set. Called again when the part is published; `name` is then ignored.
void Decisions::place_in_set(Part& part, std::size_t name) {
  const PartFacts& facts = part.facts;
  if (!part.set) part.set = SetName{facts.launch, facts.names[name].masked_name, facts.sequence};
  const auto [found, is_new] = sets_.try_emplace(*part.set);
  Set& set = found->second;
  // A rank's second part, of the same writing, changes a file that it has closed: the set may not be dropped as a whole any more.
  if (part.in_set != &set && set.wrote.contains(facts.rank)) set.whole_ms.reset();
  enter(set, part);
  if (is_new) {
    set.order = ++last_order_;
    set.pattern = part.is_alone ? facts.family : facts.names[name].pattern;
    set.first_begin_ns = facts.begin_ns;
    set.first_beginner = facts.rank;
    forget_old_sets();
  }
  set.rank_count = std::max(set.rank_count, facts.rank_count);
  set.writers = std::max(set.writers, part.is_alone ? 1 : facts.writers);
  set.local_rank_count = std::max(set.local_rank_count, facts.local_rank_count);
  set.set_wait_ms = facts.set_wait_ms;
  set.group_size = facts.group_size;
  set.keep = facts.keep;
  set.flush = facts.flush;
  set.is_replicated = facts.is_replicated;
  set.is_amended |= facts.is_amendment;
  set.is_by_untrusted_links |= facts.is_by_untrusted_links;
  if (!part.is_alone) note_failed_attempts(*part.set, set, facts);
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
    if (set.counted_lone) {  // other ranks' files came later
      set.counted_lone = false;
      --pattern.lone_sets;
    }
  }
}

void Decisions::enter(Set& set, Part& part) {
  if (part.in_set == &set) return;
  leave_set(part);
  part.in_set = &set;
  ++set.parts_of[part.facts.rank];
}

void Decisions::leave_set(Part& part) {
  if (part.in_set == nullptr) return;
  const auto count = part.in_set->parts_of.find(part.facts.rank);
  if (--count->second == 0) part.in_set->parts_of.erase(count);
  part.in_set = nullptr;
}

/// Makes the part's file a set of its own, because only one rank writes it or its numbers are not
/// ranks. The rank still counts as a writer of the former set. If other ranks do write that set,
/// this rank must count neither as passed nor as failed.
void Decisions::stand_alone(Part& part) {
  part.is_alone = true;
  part.set = SetName{part.facts.launch, part.facts.lone_name, part.facts.sequence};
  place_in_set(part, 0);
}

/// If the numbers of a family are not ranks, no part of the family joins a set of one part per
/// rank, even if the part's own number equals its rank. So all files of a family are treated alike.
void Decisions::treat_unranked() {
  for (auto& [id, part] : parts_) {
    const PartFacts& facts = part.facts;
    if (part.state != State::published || part.must_drain || part.is_alone) continue;
    if (!facts.may_be_lone || facts.is_amendment || !unranked_.contains(facts.family)) continue;
    // The set already has a container in storage.
    if (part.set && sets_.at(*part.set).committed) continue;
    if (!facts.lone_name.empty()) {
      stand_alone(part);
    } else if (!terminating_) {
      mark_native(facts.family,
                  "not every rank has a file with its own number in the name; files=…{part}… "
                  "captures such files");
      if (!part.set) place_in_set(part, 0);
      put_back(part, PutBackReason::lone);
    }
  }
}

/// Marks the set as drifted if a rank began its next writing before all ranks had finished this
/// one. Counts of a drifted set prove nothing.
void Decisions::note_drift(const SetName& name, Set& set) {
  if (set.drifted || set.writers <= 1) return;
  const auto next = sets_.find(SetName{name.launch, name.masked_name, name.sequence + 1});
  if (next == sets_.end() || set.last_publish_ns == 0) return;
  if (next->second.first_beginner == set.last_publisher) return;
  if (next->second.first_begin_ns >= set.last_publish_ns) return;
  mark_drifted(set);
  if (++patterns_[set.pattern].drifted_sets >= drifted_sets_until_native) {
    mark_native(set.pattern,
                "the ranks rewrite these files without waiting for one another, so sets would mix");
  }
}

void Decisions::mark_drifted(Set& set) {
  has_drift_news_ |= !set.drifted;
  set.drifted = true;
}

/// If attempts to write a name's files failed in some ranks only, these ranks may count other steps than the others from then on.
/// So the first set that shows it drifts, and all later ones.
void Decisions::note_failed_attempts(const SetName& name, Set& set, const PartFacts& facts) {
  if (!facts.failed_attempts || facts.is_amendment || set.writers <= 1) return;
  restart::add_attempts(set.failed_attempts,
                        restart::FailedAttempts{*facts.failed_attempts, *facts.failed_attempts});
  const std::pair of_name(name.launch, name.masked_name);
  if (set.failed_attempts->differ()) {
    std::uint64_t& first = failures_differ_from_.try_emplace(of_name, name.sequence).first->second;
    first = std::min(first, name.sequence);
  }
  const auto differing = failures_differ_from_.find(of_name);
  if (differing == failures_differ_from_.end()) return;
  const SetName first{name.launch, name.masked_name, differing->second};
  for (auto it = sets_.lower_bound(first); it != sets_.end(); ++it) {
    if (std::pair(it->first.launch, it->first.masked_name) != of_name) break;
    mark_drifted(it->second);
  }
  mark_native(
      set.pattern,
      "one of these files could not be opened for writing in some ranks only, so sets would mix");
}

/// Chooses a name for ambiguous parts as soon as other parts use one of their candidates.
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
    // No other part will use any of the names, so take the likeliest name.
    if (chosen < 0 && (terminating_ || part.facts.writers <= 1 || part.has_company)) chosen = 0;
    if (chosen >= 0) place_in_set(part, static_cast<std::size_t>(chosen));
  }
}

/// True if no other rank is known to have written a file of this name or pattern.
bool Decisions::may_be_lone(const Part& part) const {
  if (!part.facts.may_be_lone || part.has_company || part.is_alone || terminating_) return false;
  if (!part.set) return true;
  const Set& set = sets_.at(*part.set);
  return !patterns_.at(set.pattern).proven && set.parts_of.size() <= 1;
}

/// Looks for siblings of parts that may be lone, and of parts without a certain name under any rule
/// of files=, so that every part gets a set.
void Decisions::look_for_siblings() {
  for (auto& [id, part] : parts_) {
    if (part.state != State::published || part.lookup_sent) continue;
    if (part.set && !may_be_lone(part)) continue;
    const bool is_last = part.set && is_last_look(part);
    if (!is_last && !is_look_due(part)) continue;
    part.is_last_look = is_last;
    part.lookup_sent = true;
    ++part.looks;
    part.looked_ms = now_ms_;
    out_.emplace_back(LookForSiblings{id});
  }
}

bool Decisions::is_look_due(const Part& part) {
  if (part.looks > 0)
    return is_due(part.looked_ms + (patience_.lone_ms << std::min(part.looks - 1, 4U)));
  // Waits even if all known ranks have ended, if other ranks may not have begun yet.
  const bool all_are_here = part.facts.local_rank_count >= part.facts.rank_count;
  if (all_are_here && !anybody_may_write() && all_have_joined(part.facts.local_rank_count))
    return true;
  return is_due(part.published_ms + (is_urgent(part) ? patience_.durable_ms : patience_.lone_ms));
}

/// True if no further siblings can come, or if the part does not wait for them.
bool Decisions::is_last_look(Part& part) {
  const Set& set = sets_.at(*part.set);
  if (!is_ripe(set, {&part})) return false;
  if (is_urgent(part) || part.requested) return true;
  const bool all_are_here = set.local_rank_count >= set.rank_count;
  if (all_are_here && !anybody_may_write()) return true;
  if (!is_due(part.published_ms + patience_.lone_ms)) return false;
  return all_are_here || !anybody_may_write() || is_due(part.published_ms + set.set_wait_ms);
}

bool Decisions::is_due(std::uint64_t time_ms) {
  if (now_ms_ >= time_ms) return true;
  wake_at(time_ms);
  return false;
}

/// Returns 0 for a set that was forgotten. Only old sets without kept parts are forgotten.
std::uint64_t Decisions::order_of(const SetName& name) const {
  const auto found = sets_.find(name);
  return found == sets_.end() ? 0 : found->second.order;
}

void Decisions::keep_set(const SetName& name, Set& set) {
  auto& kept = patterns_[set.pattern].kept;
  if (std::find(kept.begin(), kept.end(), name) == kept.end()) kept.push_back(name);
  // Sorts, because a set may be committed after one that was begun later, if storage refused it at
  // first.
  std::sort(kept.begin(), kept.end(),
            [this](const SetName& a, const SetName& b) { return order_of(a) < order_of(b); });
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

void Decisions::forget(const PartId& part) {
  const auto known = parts_.find(part);
  if (known == parts_.end()) return;
  leave_set(known->second);
  parts_.erase(known);
}

/// All sets may be in use, so it looks again only when their number has doubled.
void Decisions::forget_old_sets() {
  if (sets_.size() <= std::max(remembered_sets, forget_sets_at_)) return;
  std::set<SetName> in_use;
  for (const auto& [id, part] : parts_) {
    if (part.set) in_use.insert(*part.set);
  }
  for (auto entry = sets_.begin(); entry != sets_.end();) {
    const bool old = entry->second.order + remembered_sets / 2 < last_order_;
    const bool idle = !in_use.contains(entry->first) && entry->second.kept.empty();
    entry = old && idle ? sets_.erase(entry) : std::next(entry);
  }
  forget_sets_at_ = 2 * sets_.size();
}

}  // namespace mcr::aggregation
