// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/leader/held_sets.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "codecs/base/checksum.hpp"
#include "restart/base/log.hpp"
#include "restart/base/name_text.hpp"
#include "restart/base/path_names.hpp"
#include "restart/base/system.hpp"

namespace mcr::aggregation {

using restart::TeamDirectory;
using Box = restart::TeamDirectory::Box;

HeldSets::~HeldSets() {
  for (auto& [set, entry] : held_) entry.held->leave();
  for (auto& [set, kept] : kept_) kept.held->leave();
  for (const auto& [set, told] : told_)
    for (const Box box : {Box::safe, Box::agreed}) (void)place_->remove(box, told.name).has_value();
}

void HeldSets::add(const SetName& set, std::unique_ptr<HeldSet> held) {
  const std::lock_guard lock(mutex_);
  held_[set] = {std::move(held), false};
  changed_ms_ = restart::monotonic_ms();
}

HeldSets::Taken HeldSets::take(const SetName& set) {
  const std::lock_guard lock(mutex_);
  if (const auto kept = kept_.find(set); kept != kept_.end()) {
    Taken taken = std::move(kept->second);
    kept_.erase(kept);
    return taken;
  }
  const auto found = held_.find(set);
  if (found == held_.end()) return {};
  Taken taken{std::move(found->second.held), {}};
  held_.erase(found);
  return taken;
}

void HeldSets::keep(const SetName& set, Taken taken) {
  const std::lock_guard lock(mutex_);
  kept_[set] = std::move(taken);
}

void HeldSets::note_left(const PartId& part) {
  const std::lock_guard lock(mutex_);
  for (auto it = kept_.begin(); it != kept_.end();) {
    std::set<PartId>& waiting = it->second.waiting;
    const bool is_last = waiting.erase(part) > 0 && waiting.empty();
    it = is_last ? kept_.erase(it) : std::next(it);
  }
}

void HeldSets::withdraw_all() {
  const std::lock_guard lock(mutex_);
  held_.clear();
  kept_.clear();
}

const TeamDirectory* HeldSets::place() {
  if (!place_)
    place_ = TeamDirectory::find(restart::parent_of(directory_.path())).value_or(std::nullopt);
  return place_ ? &*place_ : nullptr;
}

void HeldSets::tell(const TellSafe& safe) {
  const TeamDirectory* const own = place();
  if (own == nullptr || !own->has_team()) return;
  const SetName& set = safe.set;
  // Where other attempts failed, the same sequence is another step's.
  const std::string text = set.launch + "\n" + set.masked_name + "\n" +
                           std::to_string(set.sequence) + "\n" +
                           (safe.failed_attempts ? std::to_string(*safe.failed_attempts) : "");
  // All nodes make the same word of the set (aggregation/team/agreements).
  const auto name_of = [&](std::uint32_t parts) {
    return TeamDirectory::name_of_launch(
        directory_.path(), restart::hexadecimal(checksum(as_bytes(text))) + "." +
                               std::to_string(parts) + "." + std::to_string(safe.all));
  };
  const std::string name = name_of(safe.parts);
  const std::string not_safe = name_of(0);
  (void)own->remove(Box::safe, not_safe).has_value();
  if (const auto made = own->create(Box::safe, name); !made) {
    restart::log_warning_once("safe", made.error().message);
    return;
  }
  told_[set] = {name, not_safe, true};
  // Some sets never become safe on all nodes, and those after them are enough.
  constexpr std::ptrdiff_t most_of_a_name = 8;
  const auto first = told_.lower_bound({set.launch, set.masked_name, 0});
  const auto last = std::next(told_.find(set));
  if (std::distance(first, last) > most_of_a_name) {
    (void)own->remove(Box::safe, first->second.name).has_value();
    told_.erase(first);
  }
  const std::lock_guard lock(mutex_);
  changed_ms_ = restart::monotonic_ms();
}

void HeldSets::take_back(const TakeBackSafe& safe) {
  const auto found = told_.find(safe.set);
  if (found == told_.end() || !found->second.is_safe) return;
  Told& told = found->second;
  for (const Box box : {Box::safe, Box::agreed}) (void)place_->remove(box, told.name).has_value();
  if (const auto made = place_->create(Box::safe, told.not_safe); !made)
    restart::log_warning_once("safe", made.error().message);
  told.name = told.not_safe;
  told.is_safe = false;
}

std::vector<Event> HeldSets::look() {
  std::vector<Event> events;
  {
    const std::lock_guard lock(mutex_);
    for (auto& [set, entry] : held_) {
      const auto at = entry.held->where();
      // A new team forgets what an earlier one has sent.
      const bool is_lost = entry.is_replicated && at != OutgoingReplica::At::buddy;
      const bool is_refused = at == OutgoingReplica::At::refused || is_lost;
      if (is_refused || (at == OutgoingReplica::At::buddy && !entry.is_replicated))
        events.emplace_back(SetReplicated{set, is_refused});
      entry.is_replicated = at == OutgoingReplica::At::buddy;
    }
    if (!events.empty()) changed_ms_ = restart::monotonic_ms();
  }
  for (auto it = told_.begin(); it != told_.end();) {
    const Told& told = it->second;
    const bool is_agreed = told.is_safe && place_->has(Box::agreed, told.name);
    if (is_agreed) {
      (void)place_->remove(Box::agreed, told.name).has_value();
      events.emplace_back(SetAgreed{it->first});
    }
    it = is_agreed ? told_.erase(it) : std::next(it);
  }
  return events;
}

bool HeldSets::has_team() {
  {
    const std::lock_guard lock(mutex_);
    if (held_.empty()) return true;
  }
  const TeamDirectory* const own = place();
  return own != nullptr && own->has_team();
}

bool HeldSets::waits() const {
  constexpr std::uint64_t soon_ms = 10'000;
  const std::lock_guard lock(mutex_);
  const bool is_on_the_way = std::any_of(held_.begin(), held_.end(),
                                         [](const auto& it) { return !it.second.is_replicated; });
  return (is_on_the_way || !told_.empty()) && restart::monotonic_ms() < changed_ms_ + soon_ms;
}

}  // namespace mcr::aggregation
