// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/leader/collections.hpp"

#include <algorithm>
#include <ctime>

#include "restart/base/log.hpp"
#include "restart/base/system.hpp"

namespace mcr::aggregation {
namespace {

/// A collection that took longer than `cheap_ns` is followed by a pause of `pause_per_cost` times
/// its duration.
constexpr std::uint64_t cheap_ns = 1'000'000;
constexpr std::uint64_t pause_per_cost = 20;

}  // namespace

void Collections::committed(const std::string& pattern, const CommittedSet& set) {
  const std::lock_guard lock(mutex_);
  committed_[{set.where.directory, pattern}] = set;
}

void Collections::collect() {
  ByShape committed;
  {
    const std::lock_guard lock(mutex_);
    committed.swap(committed_);
  }
  for (const auto& [key, set] : committed) {
    if (set.collects) last_[key] = set;
    const std::uint64_t pause_end_ms = pause_end_ms_[set.where.directory];
    if (restart::monotonic_ms() >= pause_end_ms) {
      put_off_.erase(key);
      collect(set);
    } else if (set.collects) {
      put_off_[key] = set;
      due_ms_ = due_ms_ == 0 ? pause_end_ms : std::min(due_ms_.load(), pause_end_ms);
    }
  }
}

void Collections::make_up() {
  const std::uint64_t now = restart::monotonic_ms();
  std::uint64_t next_ms = 0;
  for (auto at = put_off_.begin(); at != put_off_.end();) {
    const std::uint64_t pause_end_ms = pause_end_ms_[at->first.first];
    if (now >= pause_end_ms) {
      collect(at->second);
      at = put_off_.erase(at);
    } else {
      next_ms = next_ms == 0 ? pause_end_ms : std::min(next_ms, pause_end_ms);
      ++at;
    }
  }
  due_ms_ = next_ms;
}

void Collections::finish() {
  for (const auto& [key, set] : last_) collect(set);
}

std::optional<std::uint64_t> Collections::due_ms() const {
  const std::uint64_t due_ms = due_ms_;
  return due_ms == 0 ? std::nullopt : std::optional(due_ms);
}

void Collections::collect(const CommittedSet& set) {
  const std::uint64_t begin_ns = restart::clock_ns(CLOCK_THREAD_CPUTIME_ID);
  const auto removed = collect_after(set);
  const std::uint64_t cost_ns = restart::clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
  const std::uint64_t pause_ms = cost_ns < cheap_ns ? 0 : pause_per_cost * cost_ns / 1'000'000;
  pause_end_ms_[set.where.directory] = restart::monotonic_ms() + pause_ms;
  if (!removed) return restart::log_warning("gc: " + removed.error().message);
  for (const std::string& prefix : *removed)
    restart::log_summary(
        "removed " + prefix +
        "*: the program has deleted or overwritten its files, and a newer set is whole");
}

}  // namespace mcr::aggregation
