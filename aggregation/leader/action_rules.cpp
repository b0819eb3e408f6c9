// SPDX-License-Identifier: BSD-3-Clause
// The rules of Decisions about actions: when a set is drained and in which groups, what becomes of
// a dead writer's parts, and when the leader exits.
#include <algorithm>

#include "aggregation/leader/decisions.hpp"
#include "restart/stage/stage.hpp"

namespace mcr::aggregation {

namespace {

/// Sets of one rank are bundled only if at least `least_family` wait, and only blocks of at least
/// `least_bundle`; other sets get a container each.
constexpr std::size_t least_family = 16;
constexpr std::size_t least_bundle = 8;
using restart::largest_bundled_part;
/// While this many drains are under way, sets that may be bundled are not handed to the drain's
/// thread. They wait here, so that more of them can be bundled.
constexpr std::size_t most_drains_under_way = 2;

}  // namespace

/// True if no rank of this node is still to begin: all have joined, or one of them knew it at its end.
bool Decisions::all_have_joined(std::uint32_t local_rank_count) const {
  std::set<std::uint32_t> joined;
  for (const auto& [presence, rank] : ranks_) {
    if (rank.all_have_begun) return true;
    joined.insert(rank.rank);
  }
  return local_rank_count > 0 && joined.size() >= local_rank_count;
}

/// True while ranks of this node may still join. The processes of a launch do not all begin at the
/// same moment, and a short process may end before the last one begins.
bool Decisions::others_may_join(const Set& set) {
  if (!anybody_lives() || !first_join_ms_) return false;  // a dead launch left the set
  if (set.local_rank_count == 0 || all_have_joined(set.local_rank_count)) return false;
  const std::uint64_t until = *first_join_ms_ + std::min(patience_.join_ms, set.set_wait_ms);
  if (now_ms_ >= until) return false;
  wake_at(until);
  return true;
}

/// True if these published parts of the set may be drained, even if other parts are missing.
bool Decisions::is_ripe(const Set& set, const std::vector<Part*>& parts) {
  if (terminating_ || set.writers <= 1) return true;
  if (set.wrote.size() >= set.writers) return true;
  if (std::any_of(parts.begin(), parts.end(), [](const Part* it) { return it->requested; }))
    return true;
  if (!anybody_may_write()) return !others_may_join(set);

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

  bool ripe = is_due(set.last_publish_ms + set.set_wait_ms);
  if (set.local_rank_count == 0 && !others_live)
    ripe |= is_due(set.last_publish_ms + patience_.settle_ms);
  for (const Part* part : parts) {
    if (is_urgent(*part)) ripe |= is_due(part->published_ms + patience_.durable_ms);
    if (set.failures > 0) ripe = true;  // the set was ripe before; only storage failed
  }
  return ripe;
}

/// False if the set's last file was closed less than `calm_ms` ago and no rank waits for the set.
/// The drain is then delayed.
bool Decisions::is_calm(const Set& set, const std::vector<Part*>& parts) {
  if (terminating_ || is_behind() || !anybody_may_write()) return true;
  const std::uint64_t due = set.last_publish_ms + patience_.calm_ms;
  if (now_ms_ >= due || set.failures > 0) return true;
  for (const Part* part : parts) {
    if (is_urgent(*part) || part->requested) return true;
  }
  wake_at(due);
  return false;
}

/// True if the job has ranks on other nodes, too, as far as this node knows.
bool Decisions::spans_nodes(const Set& set) {
  return set.rank_count > 1 && set.local_rank_count < set.rank_count;
}

/// Returns how many parts this node has of a whole set that each rank writes.
std::uint32_t Decisions::parts_here(const Set& set) {
  return spans_nodes(set) ? set.local_rank_count : set.writers;
}

/// True if the rank waits in its close.
bool Decisions::is_urgent(const Part& part) { return part.durable || part.facts.waits_for_replica; }

/// Notes when the set became whole in this node's stage: all its parts are published. Such a set may take the place of an earlier one
/// of the same names (flush=). The leader cannot see another node's stage, so sets of several nodes need a replica. A leader that
/// was not there from the beginning does not know what the one before it has told the other nodes.
void Decisions::note_whole(const SetName& name, Set& set, const std::vector<Part*>& published) {
  if (set.whole_ms || !set.is_closed || set.drifted || set.is_amended || set.is_by_untrusted_links)
    return;
  const std::uint32_t here = parts_here(set);
  if (spans_nodes(set) && (!set.is_replicated || here == 0 || is_successor_)) return;
  const bool is_complete = set.writers == set.rank_count && set.wrote.size() == here &&
                           set.parts_of.size() == here && published.size() == here;
  if (!is_complete) return;
  // Groups are dropped or committed one by one, and a second part of a rank comes into a group of its own.
  const std::uint32_t run = group_of(published.front()->facts.rank, set.group_size);
  const bool is_one_group = std::all_of(published.begin(), published.end(),
                                        [&](const Part* it) {
                                          return group_of(it->facts.rank, set.group_size) == run;
                                        }) &&
                            std::all_of(set.parts_of.begin(), set.parts_of.end(),
                                        [](const auto& entry) { return entry.second == 1; });
  if (!is_one_group) return;
  if (std::any_of(published.begin(), published.end(),
                  [](const Part* it) { return it->must_drain; }))
    return;
  set.whole_ms = now_ms_;
  if (spans_nodes(set)) not_told_.insert(name);
  set.replaced.clear();
  for (const Part* part : published)
    if (part->facts.replaced) set.replaced.push_back(*part->facts.replaced);
}

/// Returns the later writings of the same names that are whole on this node, in order.
std::vector<const Decisions::Set*> Decisions::whole_here_after(const SetName& name) const {
  std::vector<const Set*> found;
  for (auto it = sets_.upper_bound(name); it != sets_.end(); ++it) {
    if (it->first.launch != name.launch || it->first.masked_name != name.masked_name) break;
    if (it->second.whole_ms && !it->second.drifted) found.push_back(&it->second);
  }
  return found;
}

/// Returns the next whole writing of the same names; null if there is none. If ranks run on several nodes, only writings count on which the
/// nodes have agreed.
const Decisions::Set* Decisions::whole_after(const SetName& name) const {
  for (const Set* set : whole_here_after(name))
    if (!spans_nodes(*set) || set->is_safe_everywhere) return set;
  return nullptr;
}

/// True if the set need not go to storage if a newer one takes its place (flush=): it is whole in the stage, and nobody waits for it.
/// `parts` are its published parts.
bool Decisions::may_be_superseded(const SetName& name, const Set& set,
                                  const std::vector<Part*>& parts) const {
  if (set.flush <= 1 || name.sequence % set.flush == 0 || !set.whole_ms || set.drifted)
    return false;
  if (storage_failed_ || !set.containers.empty() || parts.size() != parts_here(set)) return false;
  const bool waits_for_storage = !spans_nodes(set);
  return std::none_of(parts.begin(), parts.end(), [&](const Part* it) {
    return it->durable || it->requested || it->must_drain ||
           (waits_for_storage && it->facts.waits_for_replica);
  });
}

/// True if the leader holds the set back (flush=), because a newer writing of the same files will probably take its place. The leader
/// brings the set to storage when the program or one writer ends, when the stage is full, and before the job ends.
bool Decisions::is_to_hold_back(const SetName& name, const Set& set,
                                const std::vector<Part*>& parts) {
  if (!may_be_superseded(name, set, parts)) return false;
  if (hurries_ || terminating_) return false;
  if (spans_nodes(set)) return is_to_hold_across(name, set, parts);
  if (!anybody_may_write()) return false;
  const Set* const newer = whole_after(name);
  if (newer != nullptr) return !is_due(*newer->whole_ms + patience_.superseded_ms);
  return std::all_of(parts.begin(), parts.end(), [this](const Part* it) {
    const auto writer = ranks_.find(it->facts.presence);
    return writer != ranks_.end() && writer->second.alive && !writer->second.ended;
  });
}

/// The same for a set of several nodes. A newer set takes its place when all nodes have said that theirs is safe. In doubt it goes to
/// storage: without a team, without a replica, or if the others say nothing, for example because their ranks write no such files.
bool Decisions::is_to_hold_across(const SetName& name, const Set& set,
                                  const std::vector<Part*>& parts) {
  constexpr std::uint32_t most_in_vain = 2;
  Pattern& pattern = patterns_.at(set.pattern);
  if (!has_team_ || set.hold == Set::Hold::refused || pattern.held_in_vain >= most_in_vain)
    return false;
  if (whole_after(name) != nullptr) return false;
  if (set.hold == Set::Hold::held && is_due(set.held_ms + patience_.replica_ms)) return false;
  const std::vector<const Set*> newer = whole_here_after(name);
  if (ended_ms_) return !newer.empty() && !is_due(*ended_ms_ + patience_.agreement_ms);
  if (newer.size() > 1 && is_due(*newer.front()->whole_ms + patience_.agreement_ms)) {
    ++pattern.held_in_vain;
    return false;
  }
  return !newer.empty() || std::all_of(parts.begin(), parts.end(), [this](const Part* it) {
    const auto writer = ranks_.find(it->facts.presence);
    return writer != ranks_.end() && writer->second.alive && !writer->second.ended;
  });
}

void Decisions::hold_set(const SetName& name, Set& set, std::vector<Part*> parts) {
  std::sort(parts.begin(), parts.end(),
            [](const Part* a, const Part* b) { return a->facts.rank < b->facts.rank; });
  DrainGroup group = account_of(name, set);
  group.drain = ++last_drain_;
  for (Part* part : parts) {
    part->state = State::draining;
    part->drain = group.drain;
    group.parts.push_back(part->facts.part);
    group.bytes += part->size;
    group.ranks.push_back(part->facts.rank);
  }
  set.hold = Set::Hold::asked;
  draining_[group.drain] = group.parts;
  out_.emplace_back(HoldSet{std::move(group)});
}

/// Tells the other nodes which sets are safe here. A set that drifts later is told all the same, as on one node.
void Decisions::tell_safe() {
  std::erase_if(told_, [this](const SetName& name) {
    const auto found = sets_.find(name);
    if (found == sets_.end() || found->second.is_safe_everywhere) return true;
    const bool has_lost_replica = lost_replica_.contains(name);
    if (found->second.whole_ms && !has_lost_replica) return false;
    out_.emplace_back(TakeBackSafe{name});
    if (has_lost_replica) not_told_.insert(name);
    return true;
  });
  lost_replica_.clear();
  std::erase_if(not_told_, [this](const SetName& name) {
    const auto found = sets_.find(name);
    if (found == sets_.end()) return true;
    const Set& set = found->second;
    if (!set.whole_ms || set.drifted) return true;
    const bool is_in_storage = set.committed && set.parts_of.empty();
    if (set.hold != Set::Hold::replicated && !is_in_storage) return false;
    // A rank that has begun its next file too early may be seen only now: the set has then drifted.
    if (anybody_may_write() && !is_due(*set.whole_ms + patience_.superseded_ms)) return false;
    if (set.failed_attempts && set.failed_attempts->differ()) return true;
    const auto failed = set.failed_attempts ? std::optional(set.failed_attempts->least)
                                            : std::optional<std::uint64_t>();
    out_.emplace_back(TellSafe{name, parts_here(set), set.rank_count, failed});
    told_.insert(name);
    return true;
  });
}

/// Returns the newer writing that has taken the set's place, so that the set need not go to storage; null if there is none.
const Decisions::Set* Decisions::superseded_by(const SetName& name, const Set& set,
                                               const std::vector<Part*>& parts) const {
  if (!may_be_superseded(name, set, parts)) return nullptr;
  const Set* const newer = whole_after(name);
  if (newer == nullptr) return nullptr;
  // A rank that has begun its next file too early may be seen only now: the newer set has then drifted.
  const bool may_drift = !spans_nodes(set) && anybody_may_write() &&
                         now_ms_ < *newer->whole_ms + patience_.superseded_ms;
  return may_drift ? nullptr : newer;
}

void Decisions::mark_superseded(const SetName& name, const Set& newer, DrainGroup& group) const {
  group.is_superseded = true;
  // The next writing found the stubs, and `newer` may be a later one.
  for (const Set* set : whole_here_after(name))
    group.replaced.insert(group.replaced.end(), set->replaced.begin(), set->replaced.end());
  for (const auto& [id, part] : parts_)
    if (part.in_set == &newer) group.newer.push_back(id);
}

/// Puts back parts whose files a rank on another node wants to write natively. The whole pattern
/// becomes native, so that all its sets are treated alike.
void Decisions::put_back_requested() {
  for (auto& [id, part] : parts_) {
    if (part.state != State::published || !part.wanted_native) continue;
    if (!part.set) place_in_set(part, 0);
    mark_native(sets_.at(*part.set).pattern,
                "ranks on several nodes write into one file; files=…{part}… captures such files");
    put_back(part, PutBackReason::requested);
  }
}

void Decisions::drain_ripe_sets() {
  std::map<std::uint64_t, std::pair<const SetName*, std::vector<Part*>>> by_order;
  for (auto& [id, part] : parts_) {
    if (part.state != State::published || !part.set) continue;
    if (part.hold_until_ms > now_ms_) {
      wake_at(part.hold_until_ms);
      continue;
    }
    if (may_be_lone(part)) continue;  // look_for_siblings() handles it
    auto& entry = by_order[part.in_set->order];
    entry.first = &*part.set;
    entry.second.push_back(&part);
  }
  for (auto& [order, entry] : by_order) {
    Set& set = *entry.second.front()->in_set;
    set.is_closed = is_ripe(set, entry.second);
    if (set.flush > 1) note_whole(*entry.first, set, entry.second);
  }
  holds_back_ = false;
  for (auto& [order, entry] : by_order) {
    Set& set = *entry.second.front()->in_set;
    set.is_held_back = is_to_hold_back(*entry.first, set, entry.second);
    holds_back_ |= set.is_held_back;
  }
  behind_ = count_behind();
  std::map<std::string, std::vector<Part*>> families;
  for (auto& [order, entry] : by_order) {
    Set& set = *entry.second.front()->in_set;
    const bool is_held = set.is_held_back && (!spans_nodes(set) || set.hold != Set::Hold::none);
    if (!set.is_closed || is_held || !is_calm(set, entry.second)) continue;
    if (set.is_held_back) {
      hold_set(*entry.first, set, std::move(entry.second));
    } else if (may_be_bundled(set, entry.second)) {
      families[entry.second.front()->facts.bundle_family].push_back(entry.second.front());
    } else {
      drain(*entry.first, set, std::move(entry.second));
    }
  }
  for (const auto& [family, parts] : families) drain_family(parts);
}

std::size_t Decisions::count_behind() const {
  std::map<std::string_view, std::set<std::uint64_t>>
      waiting;  // by pattern: the orders of its sets
  for (const auto& [id, part] : parts_) {
    const bool waits = part.state == State::published || part.state == State::draining;
    if (!waits || !part.set || !part.in_set->is_closed) continue;
    // A set that waits for a newer one takes memory, but the program cannot wait for that. One that is about to be dropped counts.
    // Of several nodes, one that waits for the others' agreement about a newer one counts, too, until all have agreed.
    if (part.in_set->is_held_back && !spans_nodes(*part.in_set) &&
        whole_after(*part.set) == nullptr)
      continue;
    if (part.in_set->is_held_back && part.in_set->hold == Set::Hold::replicated &&
        whole_here_after(*part.set).empty())
      continue;
    const bool shares_container =
        !part.facts.bundle_family.empty() && part.size <= largest_bundled_part;
    waiting[part.in_set->pattern].insert(shares_container ? 0 : part.in_set->order);
  }
  std::size_t most = 0;
  for (const auto& [pattern, orders] : waiting) most = std::max(most, orders.size());
  return most;
}

bool Decisions::may_be_bundled(const Set& set, const std::vector<Part*>& parts) const {
  const Part& part = *parts.front();
  return parts.size() == 1 && !part.facts.bundle_family.empty() &&
         part.size <= largest_bundled_part && !is_urgent(part) && !part.requested &&
         set.containers.empty() && set.failures == 0;
}

/// Drains the sets of one rank and one family that may be drained now, oldest first. If few sets
/// wait, each is drained alone as soon as earlier drains are done. If many wait, they are bundled.
void Decisions::drain_family(const std::vector<Part*>& parts) {
  if (parts.size() < least_family) return drain_alone(parts);
  std::vector<std::vector<Part*>> blocks;
  std::map<std::string, std::size_t> places;
  for (Part* part : parts) {
    const auto [place, is_new] = places.try_emplace(part->facts.block, blocks.size());
    if (is_new) blocks.emplace_back();
    blocks[place->second].push_back(part);
  }
  const bool more_may_come = anybody_may_write() && !terminating_;
  for (const std::vector<Part*>& block : blocks) {
    const std::uint64_t due = block.front()->published_ms + patience_.bundle_ms;
    if (more_may_come && block.size() < PartId::block_parts && now_ms_ < due) {
      wake_at(due);
    } else if (block.size() < least_bundle) {
      drain_alone(block);
    } else if (draining_.size() < most_drains_under_way) {
      drain_bundle(block);
    }
  }
}

/// While too many drains are under way, parts wait. The end of a drain is an event, after which all
/// rules run again.
void Decisions::drain_alone(const std::vector<Part*>& parts) {
  for (Part* part : parts) {
    if (draining_.size() >= most_drains_under_way) return;
    const SetName name = *part->set;
    drain(name, *part->in_set, {part});
  }
}

void Decisions::drain_bundle(const std::vector<Part*>& parts) {
  const Part& first = *parts.front();
  DrainGroup group = account_of(*first.set, *first.in_set);
  group.drain = ++last_drain_;
  group.fast = terminating_;
  for (Part* part : parts) {
    Set& set = *part->in_set;
    ++set.containers[0];
    part->state = State::draining;
    part->drain = group.drain;
    group.parts.push_back(part->facts.part);
    group.bytes += part->size;
    group.ranks.push_back(part->facts.rank);
    group.bundle.push_back({*part->set, set.first_begin_ns});
  }
  draining_[group.drain] = group.parts;
  out_.emplace_back(std::move(group));
}

void Decisions::drain(const SetName& name, Set& set, std::vector<Part*> parts) {
  const Set* const newer = superseded_by(name, set, parts);
  if (set.hold != Set::Hold::none)
    set.hold = Set::Hold::refused;  // its replica goes with this drain
  std::sort(parts.begin(), parts.end(), [](const Part* a, const Part* b) {
    return std::pair(a->facts.rank, a->facts.begin_ns) <
           std::pair(b->facts.rank, b->facts.begin_ns);
  });
  while (!parts.empty()) {
    // A group is one run of ranks and has each path once. The remaining parts go into further
    // containers.
    DrainGroup group = account_of(name, set);
    group.drain = ++last_drain_;
    group.keep = set.keep > 0 && !terminating_;
    group.fast = terminating_;
    const std::uint32_t run = group_of(parts.front()->facts.rank, set.group_size);
    set.told = {group.passed_ranks, group.failed_ranks, group.drifted};
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
      group.bytes += part->size;
      group.ranks.push_back(part->facts.rank);
    }
    if (newer != nullptr && group.parts.size() == parts_here(set))
      mark_superseded(name, *newer, group);
    draining_[group.drain] = group.parts;
    out_.emplace_back(std::move(group));
    parts = std::move(rest);
  }
}

/// Returns the ranks of this node that certainly had nothing to write for this set. Such a rank
/// wrote no file of the set's pattern in this launch, captured or native. In addition, it ended
/// regularly, or all ranks that did write have gone on to the next set.
std::vector<std::uint32_t> Decisions::passed_ranks(const Set& set) const {
  if (set.is_amended || set.is_by_untrusted_links || is_successor_) return {};
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
    if (pattern.possible_writers.contains(rank.rank)) continue;
    const bool died = (!rank.alive || rank.ended) && !rank.regular;
    if (rank.regular || (all_went_on && !died)) passed.insert(rank.rank);
  }
  return {passed.begin(), passed.end()};
}

/// Returns the ranks that wrote other sets of the pattern and can no longer write this one.
std::vector<std::uint32_t> Decisions::failed_ranks(const Set& set) const {
  if (set.is_amended) return {};
  std::set<std::uint32_t> failed;
  for (const auto& [rank, newest] : patterns_.at(set.pattern).newest_begun) {
    if (!set.wrote.contains(rank)) failed.insert(rank);
  }
  for (const auto& [presence, rank] : ranks_) {
    if (rank.alive && !rank.ended) failed.erase(rank.rank);
  }
  return {failed.begin(), failed.end()};
}

/// A set of one file is whole with that file, whatever other ranks did, so the result is empty for
/// it.
Decisions::Told Decisions::known_of(const Set& set) const {
  if (set.writers <= 1) return {};
  return {passed_ranks(set), failed_ranks(set), set.drifted};
}

DrainGroup Decisions::account_of(const SetName& name, const Set& set) const {
  Told known = known_of(set);
  DrainGroup account;
  account.set = name;
  account.rank_count = set.rank_count;
  account.passed_ranks = std::move(known.passed);
  account.failed_ranks = std::move(known.failed);
  account.drifted = known.drifted;
  account.failed_attempts = set.failed_attempts;
  account.begun_ns = set.first_begin_ns;
  return account;
}

/// Notes what is known of a set but not in its containers yet. Drift is noted at once. The rest is
/// noted when no rank writes any more, so that one supplement is enough.
void Decisions::note_accounts() {
  if (anybody_may_write() && !has_drift_news_) return;
  if (storage_failed_ || terminating_) return;
  // Looks at all sets, so only once, when all drains are done.
  if (!has_drift_news_ && !draining_.empty()) return;
  has_drift_news_ = false;
  std::set<SetName> in_action;  // sets whose next container will say what is known
  for (const auto& [id, part] : parts_) {
    if (part.set && part.state != State::open) in_action.insert(*part.set);
  }
  for (auto& [name, set] : sets_) {
    if (!set.committed || in_action.contains(name) || noting_.contains(name)) continue;
    Told known = known_of(set);
    if (known == set.told || (anybody_may_write() && known.drifted == set.told.drifted)) continue;
    set.told = std::move(known);
    noting_.insert(name);
    out_.emplace_back(NoteAccount{account_of(name, set)});
  }
}

void Decisions::settle_dead_writers() {
  for (auto& [id, part] : parts_) {
    if (part.state != State::open) continue;
    const auto writer = ranks_.find(part.facts.presence);
    if (writer == ranks_.end() || writer->second.alive) continue;
    if (part.hold_until_ms > now_ms_ && !terminating_) {
      wake_at(part.hold_until_ms);
      continue;
    }
    out_.emplace_back(Settle{id});
    part.state = State::settling;
  }
}

void Decisions::put_back(Part& part, PutBackReason reason) {
  // A set with plain files is not whole in containers and memory, as the other nodes would take it to be.
  if (part.in_set != nullptr && spans_nodes(*part.in_set)) part.in_set->whole_ms.reset();
  part.state = State::putting_back;
  part.reason = reason;
  out_.emplace_back(PutBack{part.facts.part, reason});
}

void Decisions::mark_native(const std::string& pattern, const std::string& why) {
  if (marked_.insert(pattern).second) out_.emplace_back(MarkNative{pattern, why});
}

void Decisions::consider_exit() {
  const bool in_action = std::any_of(parts_.begin(), parts_.end(), [](const auto& entry) {
    const State state = entry.second.state;
    return state == State::draining || state == State::putting_back || state == State::settling;
  });
  if (in_action || !noting_.empty()) return;
  if (!terminating_) {
    if (anybody_lives() || shares_frames_ || watches_) return;
    if (ranks_.empty() && parts_.empty() && !has_shared_frames_) {
      // No rank has joined yet, but the process that started this leader is about to join.
      const std::uint64_t due = *start_ms_ + patience_.first_rank_ms;
      if (now_ms_ < due) return wake_at(due);
    }
  }
  const bool settles_again = std::any_of(parts_.begin(), parts_.end(), [](const auto& entry) {
    return entry.second.state == State::open && entry.second.settle_tries > 0;
  });
  if (settles_again) return;
  bool waiting = false;
  for (const auto& [id, part] : parts_) {
    if (part.state != State::published) continue;
    waiting = true;
    if (part.last_tries < patience_.last_tries) return;
  }
  const bool all_ended = std::all_of(ranks_.begin(), ranks_.end(),
                                     [](const auto& entry) { return entry.second.regular; });
  if (all_ended) release_kept();  // after a crash, kept parts stay for a fast restart
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

bool Decisions::somebody_waits() const {
  if (terminating_ || is_behind() || (anybody_lives() && !anybody_may_write())) return true;
  return std::any_of(parts_.begin(), parts_.end(), [](const auto& entry) {
    const Part& part = entry.second;
    const bool is_closed = part.state == State::published || part.state == State::draining;
    const bool is_replicated = part.in_set != nullptr && part.in_set->hold == Set::Hold::replicated;
    const bool waits = part.facts.waits_for_replica && !is_replicated;
    return is_closed && (part.durable || waits || part.requested);
  });
}

void Decisions::wake_at(std::uint64_t time_ms) {
  if (!wake_ms_ || time_ms < *wake_ms_) wake_ms_ = time_ms;
}

}  // namespace mcr::aggregation
