// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/gpu/lanes/card_lanes.hpp"

#include <algorithm>

namespace mcr::codecs::gpu {
namespace {

/// After so many frames for which the card's memory was too small, these lanes are not used any more.
constexpr unsigned most_times_full = 8;

}  // namespace

CardLanes::CardLanes(const CardOptions& options, unsigned wanted) {
  if (!options.is_on) return;
  const std::uint64_t fitting =
      std::clamp<std::uint64_t>(options.memory_bytes / least_lane_bytes, 1, most_lanes);
  count_ = std::clamp(wanted, 1U, static_cast<unsigned>(fitting));
  lane_bytes_ = options.memory_bytes / count_;
  free_.reserve(count_);
}

CardLanes::Lane CardLanes::take() {
  if (count_ == 0 || times_full_ >= most_times_full) return {};
  Card* const card = card_in_use();
  if (card == nullptr) return {};
  std::unique_lock lock(mutex_);
  if (!free_.empty()) {
    std::unique_ptr<Queue> queue = std::move(free_.back());
    free_.pop_back();
    return {*this, std::move(queue), false};
  }
  if (made_ == count_) return {};
  ++made_;
  lock.unlock();
  auto queue = card->make_queue(static_cast<std::size_t>(lane_bytes_));
  if (queue) return {*this, *std::move(queue), true};
  ++times_full_;  // any other error has given the card up
  lock.lock();
  --made_;
  return {};
}

void CardLanes::free_unused() {
  // In a forked process, the driver does not work; a card that was given up may still write.
  if (count_ == 0 || card_in_use() == nullptr) return;
  for (;;) {
    std::unique_ptr<Queue> unused;
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return;
    unused = std::move(free_.back());
    free_.pop_back();  // keeps its memory, so that give_back() needs none
    --made_;
  }
}

void CardLanes::give_back(std::unique_ptr<Queue> queue) noexcept {
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(queue));
}

}  // namespace mcr::codecs::gpu
