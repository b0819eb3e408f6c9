// SPDX-License-Identifier: BSD-3-Clause
// Turns on the CPU, for more threads than may work on it at a time: the thread of a lane mostly waits for the
// card.
#pragma once

#include <condition_variable>
#include <mutex>

namespace mcr::aggregation {

/// How many more threads may work on the CPU. (std::counting_semaphore of libstdc++ 12 can lose a wake-up.)
class CpuTurns {
 public:
  explicit CpuTurns(unsigned turns) : free_(turns) {}
  void take() {
    std::unique_lock lock(mutex_);
    freed_.wait(lock, [this] { return free_ > 0; });
    --free_;
  }
  void give_back() {
    {
      const std::lock_guard lock(mutex_);
      ++free_;
    }
    freed_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable freed_;
  unsigned free_;
};

/// A turn on the CPU, given back also if memory runs out meanwhile.
class Turn {
 public:
  explicit Turn(CpuTurns& turns) : turns_(turns) { turns_.take(); }
  ~Turn() { turns_.give_back(); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  CpuTurns& turns_;
};

}  // namespace mcr::aggregation
