// SPDX-License-Identifier: BSD-3-Clause
// One thread that does the leader's slow work in order, so that the loop sees what happens
// meanwhile. What a job answers comes back to the loop, woken by a descriptor.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "aggregation/leader/decisions.hpp"

namespace mcr::aggregation {

/// What jobs have answered since the last look. Threads add, the loop takes.
class Answers {
 public:
  Answers();
  ~Answers();
  Answers(const Answers&) = delete;
  Answers& operator=(const Answers&) = delete;

  void add(std::vector<Event> events);
  std::vector<Event> take();
  /// Readable while there are answers.
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  std::mutex mutex_;
  std::vector<Event> events_;
  int descriptor_ = -1;
};

class Worker {
 public:
  using Job = std::function<std::vector<Event>()>;

  /// `name` is the thread's, for who looks at the process (15 characters).
  Worker(const char* name, Answers& answers);
  /// Ends after the job under way; what waits is not begun.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// `what` says in words what the job does, for Busy.
  void submit(std::string what, Job job);

  /// The job under way, and since when by the monotonic clock.
  struct Busy {
    std::string what;  ///< empty: none
    std::uint64_t since_ms = 0;
  };
  [[nodiscard]] Busy busy() const;

 private:
  struct Order {
    std::string what;
    Job job;
  };
  void run();

  Answers& answers_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Order> orders_;
  Busy busy_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace mcr::aggregation
