// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/leader/requests.hpp"

#include <set>

#include "aggregation/commit/commit_options.hpp"
#include "restart/open/part_request.hpp"

namespace mcr::aggregation {

void Requests::remember(const restart::PartBegin& begin) {
  if (begin.local_rank_count >= begin.rank_count || begin.masked_names.empty()) return;
  const auto where = container_name_of(begin, begin.masked_names.front());
  const std::lock_guard lock(mutex_);
  parts_[begin.part] = {where.directory, begin.node, begin.launch};
}

void Requests::forget(const restart::PartId& part) {
  const std::lock_guard lock(mutex_);
  parts_.erase(part);
}

bool Requests::may_come() const {
  const std::lock_guard lock(mutex_);
  return !parts_.empty();
}

std::vector<Event> Requests::look() {
  std::map<restart::PartId, Place> parts;
  {
    const std::lock_guard lock(mutex_);
    parts = parts_;
  }
  std::map<std::string, bool> rung;
  std::vector<Event> events;
  for (const auto& [part, place] : parts) {
    const auto [bell, is_new] = rung.try_emplace(place.directory, false);
    if (is_new) bell->second = restart::take_bell(place.directory, place.node, place.launch);
    if (!bell->second) continue;
    if (const auto wish = restart::find_request(place.directory, part)) {
      events.emplace_back(PartRequested{part, *wish == restart::PartWish::native});
    }
  }
  return events;
}

}  // namespace mcr::aggregation
