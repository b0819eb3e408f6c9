// SPDX-License-Identifier: BSD-3-Clause
// The rules of Decisions about flush=: which sets are held in the stage, when a held set is committed, and when
// it is dropped. docs/design/flush.md
#include <algorithm>

#include "aggregation/leader/decisions.hpp"

namespace mcr::aggregation {

namespace {

/// After the stage was short, sets are committed for so long.
constexpr std::uint64_t short_ms = 5000;
constexpr std::size_t remembered_in_storage = 64;

}  // namespace

/// A set of which parts are held.
struct Decisions::HeldSet {
  const SetName* name = nullptr;
  Set* set = nullptr;
  std::vector<Part*> parts;
  bool is_disturbed = false;  ///< a part is late, taken back, or awaited elsewhere
  /// A newer whole set of the pattern is being committed.
  bool is_newer_on_its_way = false;
};

bool Decisions::is_on_several_nodes(const Set& set) {
  return set.local_rank_count < set.rank_count;
}

/// True while held sets may not stay: a process waits at its end, a rank died, or the leader is told to end.
bool Decisions::must_flush() const {
  if (terminating_ || storage_failed_ || now_ms_ < short_until_ms_ || !anybody_may_write())
    return true;
  return std::any_of(ranks_.begin(), ranks_.end(), [](const auto& entry) {
    const Rank& rank = entry.second;
    const bool waits_at_its_end = rank.alive && rank.ended;
    const bool died = !rank.alive && !rank.ended;
    return waits_at_its_end || died;
  });
}

/// `parts` are the published parts of the set.
bool Decisions::may_hold(const Set& set, const std::vector<Part*>& parts) const {
  if (set.flush <= 1 || set.number == 0 || set.number % set.flush == 0 || set.must_commit)
    return false;
  const std::uint32_t here = set.local_rank_count;
  const bool is_of_all_ranks = set.rank_count > 1 && set.writers == set.rank_count && here > 0 &&
                               set.wrote.size() == here && parts.size() == here;
  if (!is_of_all_ranks || set.drifted || set.is_amended || set.failures > 0 ||
      !set.containers.empty() || must_flush())
    return false;
  const std::uint32_t run = group_of(parts.front()->facts.rank, set.group_size);
  std::set<std::string> paths;
  return std::all_of(parts.begin(), parts.end(), [&](const Part* part) {
    return !part->durable && !part->requested && !part->must_drain && !part->facts.is_held &&
           group_of(part->facts.rank, set.group_size) == run &&
           paths.insert(part->facts.path).second;
  });
}

void Decisions::note_in_storage(const SetName& name, Set& set, std::uint32_t rank) {
  if (set.flush <= 1) return;
  set.committed_ranks.insert(rank);
  const bool is_whole =
      set.committed_ranks.size() == set.rank_count && !set.drifted && !set.is_amended;
  if (set.drifted && set.must_commit) has_drift_news_ = true;  // its container does not say so
  if (is_whole) apply(SetInStorage{name});
}

void Decisions::apply(const SetInStorage& event) {
  const auto found = sets_.find(event.set);
  if (found == sets_.end()) return;
  auto& known = patterns_[found->second.pattern].in_storage;
  known.emplace_back(found->second.first_begin_ns, event.set);
  std::sort(known.begin(), known.end());
  if (known.size() > remembered_in_storage) known.pop_front();
}

void Decisions::apply(const StageShort&) {
  release_kept();
  short_until_ms_ = now_ms_ + short_ms;
}

void Decisions::apply(const SetDropped& event) {
  for (const PartId& id : event.parts) {
    const auto found = parts_.find(id);
    if (found == parts_.end() || found->second.state != State::dropping) continue;
    if (event.done || found->second.dropped) {
      forget(id);
    } else {
      found->second.state = State::held;
    }
  }
}

/// The parts become published parts, which drain_ripe_sets() commits.
void Decisions::commit_held(HeldSet& held) {
  held.set->must_commit = true;
  // The set has no container in storage yet: the one in the stage becomes its first one.
  held.set->containers.clear();
  for (Part* part : held.parts) {
    part->state = State::published;
    part->has_company = true;
  }
}

void Decisions::treat_held_sets() {
  std::map<std::string, std::map<std::uint64_t, HeldSet>> patterns;  // sets by order
  for (auto& [id, part] : parts_) {
    if (part.state != State::held || !part.set) continue;
    HeldSet& held = patterns[part.in_set->pattern][part.in_set->order];
    held.name = &*part.set;
    held.set = part.in_set;
    held.parts.push_back(&part);
    held.is_disturbed |= part.requested || part.dropped;
  }
  if (patterns.empty()) return;
  for (auto& [id, part] : parts_) {
    if (part.state == State::held || part.state == State::dropping || !part.set) continue;
    const auto sets = patterns.find(part.in_set->pattern);
    if (sets == patterns.end()) continue;
    const Set& set = *part.in_set;
    const auto held = sets->second.find(set.order);
    if (held != sets->second.end()) held->second.is_disturbed = true;
    const bool is_on_its_way = !is_on_several_nodes(set) &&
                               (part.state == State::published || part.state == State::draining) &&
                               set.wrote.size() == set.rank_count && !set.drifted &&
                               !set.is_amended;
    if (!is_on_its_way) continue;
    for (auto& [order, older] : sets->second)
      older.is_newer_on_its_way |= older.set->first_begin_ns < set.first_begin_ns;
  }
  for (auto& [pattern, by_order] : patterns) {
    std::vector<HeldSet> sets;
    for (auto& [order, held] : by_order) sets.push_back(std::move(held));
    std::sort(sets.begin(), sets.end(), [](const HeldSet& a, const HeldSet& b) {
      return a.set->first_begin_ns < b.set->first_begin_ns;
    });
    treat_held_sets(sets);
  }
}

/// `sets` are of one pattern, oldest first.
void Decisions::treat_held_sets(std::vector<HeldSet>& sets) {
  const auto& in_storage = patterns_[sets.front().set->pattern].in_storage;
  const bool flushes = must_flush();
  for (HeldSet& held : sets) {
    const bool is_complete = held.parts.size() == held.set->local_rank_count;
    if (held.is_disturbed || held.set->drifted || !is_complete) commit_held(held);
  }
  const auto is_committed = [](const HeldSet& held) { return held.set->must_commit; };
  sets.erase(std::remove_if(sets.begin(), sets.end(), is_committed), sets.end());
  for (std::size_t i = 0; i < sets.size(); ++i) {
    HeldSet& held = sets[i];
    const auto newer_in_storage = static_cast<std::size_t>(
        std::count_if(in_storage.begin(), in_storage.end(),
                      [&](const auto& entry) { return entry.first > held.set->first_begin_ns; }));
    // Whether other nodes hold a newer set is not known.
    const std::size_t newer_held = is_on_several_nodes(*held.set) ? 0 : sets.size() - i - 1;
    const std::size_t least = std::max<std::size_t>(held.set->keep, 1);
    const bool is_superseded =
        flushes ? newer_in_storage > 0 : newer_in_storage + newer_held >= least;
    if (is_superseded) {
      const bool is_held_newest =
          newer_held > 0 &&
          (newer_in_storage == 0 || sets.back().set->first_begin_ns > in_storage.back().first);
      const SetName& newest = is_held_newest ? *sets.back().name : in_storage.back().second;
      if (held.set->kept_beside != newest) {
        held.set->kept_beside = newest;
        DropSet order{*held.name, {}, newest};
        for (Part* part : held.parts) {
          part->state = State::dropping;
          order.parts.push_back(part->facts.part);
        }
        out_.emplace_back(std::move(order));
        continue;
      }
    }
    // A set that the program has given another name is committed like the newest one.
    const bool is_newest = newer_held == 0 && !held.is_newer_on_its_way;
    if (flushes && (is_newest || is_superseded)) commit_held(held);
  }
}

}  // namespace mcr::aggregation
