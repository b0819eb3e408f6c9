// SPDX-License-Identifier: BSD-3-Clause
// Threads that wait for storage, so that several writes are in flight while other threads encode.
#pragma once

#include <oneapi/tbb/concurrent_queue.h>

#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

namespace mcr::aggregation {

class WriteStreams {
 public:
  /// Starts `count` threads, or as many as the system lets start. `most_waiting`: the most writes that wait
  /// for a thread.
  WriteStreams(unsigned count, std::size_t most_waiting);
  /// Ends the threads after all writes.
  ~WriteStreams();
  WriteStreams(const WriteStreams&) = delete;
  WriteStreams& operator=(const WriteStreams&) = delete;

  /// Lets a thread call `write`. Waits while too many writes wait; without threads, calls it itself.
  void add(std::function<void()> write);
  /// Waits until all writes are done, and ends the threads.
  void finish();

 private:
  void run();

  /// An empty one ends a thread.
  oneapi::tbb::concurrent_bounded_queue<std::function<void()>> writes_;
  std::vector<std::thread> threads_;
};

}  // namespace mcr::aggregation
