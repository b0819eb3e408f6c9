// SPDX-License-Identifier: BSD-3-Clause
// A thread that carries out slow jobs of the leader one after another, so that the leader's loop
// does not wait for them. The events that a job returns are added to Answers, whose descriptor
// wakes the loop. (The leader has three such threads: leader.cpp.)
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

/// The events of finished jobs. Threads add them, the loop takes them.
class Answers {
 public:
  Answers();
  ~Answers();
  Answers(const Answers&) = delete;
  Answers& operator=(const Answers&) = delete;

  void add(std::vector<Event> events);
  std::vector<Event> take();
  /// Becomes readable when there are events.
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  std::mutex mutex_;
  std::vector<Event> events_;
  int descriptor_ = -1;
};

class Worker {
 public:
  using Job = std::function<std::vector<Event>()>;

  /// What a worker does when it has had no job for a while. `trim`: it gives the memory that the process has freed
  /// back to the system; for the worker whose jobs need much of it, because other workers may be idle meanwhile.
  enum class WhenIdle : std::uint8_t { wait, trim };
  /// `name` is shown as the thread's name by `ps` (at most 15 characters).
  Worker(const char* name, Answers& answers, WhenIdle when_idle = WhenIdle::wait);
  /// Ends after the present job; queued jobs are dropped.
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// `what` describes the job, for Busy.
  void submit(std::string what, Job job);

  /// Waits until all submitted jobs are over.
  void finish();

  /// The present job, and since when it runs by the monotonic clock.
  struct Busy {
    std::string what;  ///< empty: none
    std::uint64_t since_ms = 0;
  };
  [[nodiscard]] Busy busy() const;
  /// Called by the present job: describes it anew, as of now.
  void describe(std::string what);

 private:
  struct Order {
    std::string what;
    Job job;
  };
  void run();

  Answers& answers_;
  const WhenIdle when_idle_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable idle_;
  std::deque<Order> orders_;
  Busy busy_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace mcr::aggregation
