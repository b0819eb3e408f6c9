// SPDX-License-Identifier: BSD-3-Clause
// Lanes to the card: each is a queue with its share of gpu_memory=, which one thread at a time uses for
// one frame. The lanes of several threads overlap: one frame is uploaded while another is encoded and a
// third is downloaded.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "codecs/gpu/lanes/open_card.hpp"
#include "codecs/gpu/queue.hpp"

namespace mcr::codecs::gpu {

inline constexpr unsigned most_lanes = 8;
/// A share of the card's memory below this would be too small for a usual frame.
inline constexpr std::uint64_t least_lane_bytes = std::uint64_t{16} << 20;
/// Smaller frames stay on the CPU: a card needs about as long for them as for frames of this size.
inline constexpr std::size_t least_card_frame_bytes = std::size_t{64} << 10;

class CardLanes {
 public:
  /// `wanted`: the most lanes that are used at a time. A lane is made when it is needed first.
  CardLanes(const CardOptions& options, unsigned wanted);
  CardLanes(const CardLanes&) = delete;
  CardLanes& operator=(const CardLanes&) = delete;

  /// The most lanes at a time; 0 if the card is off.
  [[nodiscard]] unsigned count() const { return count_; }

  /// Use of one lane; it ends with this object.
  class Lane {
   public:
    Lane() = default;
    Lane(CardLanes& lanes, std::unique_ptr<Queue> queue, bool is_new)
        : lanes_(&lanes), queue_(std::move(queue)), is_new_(is_new) {}
    Lane(Lane&&) = default;
    Lane& operator=(Lane&&) = delete;
    ~Lane() {
      if (queue_) lanes_->give_back(std::move(queue_));
    }
    explicit operator bool() const { return queue_ != nullptr; }
    [[nodiscard]] Queue& queue() { return *queue_; }
    /// True if the lane's first frame is coded.
    [[nodiscard]] bool is_new() const { return is_new_; }
    /// Says that the frame did not fit into the lane's memory. After a few times, all lanes are closed.
    void was_full() { ++lanes_->times_full_; }

   private:
    CardLanes* lanes_ = nullptr;
    std::unique_ptr<Queue> queue_;
    bool is_new_ = false;
  };

  /// Returns a free lane; an empty one if all are in use, or if the card cannot be used (yet).
  Lane take();
  /// Frees the queues that are not in use.
  void free_unused();

 private:
  friend class Lane;
  void give_back(std::unique_ptr<Queue> queue) noexcept;

  unsigned count_ = 0;
  std::uint64_t lane_bytes_ = 0;
  std::atomic<unsigned> times_full_{0};
  std::mutex mutex_;
  unsigned made_ = 0;                         // guarded by mutex_
  std::vector<std::unique_ptr<Queue>> free_;  // guarded by mutex_
};

}  // namespace mcr::codecs::gpu
