// SPDX-License-Identifier: BSD-3-Clause
// Threads that call the driver. A thread that is not needed any more waits for the next runner and never ends, so that
// at the process's end no thread is in a destructor of the driver. The plugin does not link this file.
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "codecs/gpu/device/call_runner.hpp"

namespace mcr::codecs::gpu {
namespace {

/// One thread's work. Never freed.
struct Worker {
  std::mutex mutex;
  std::condition_variable changed;
  std::shared_ptr<CardStream> stream;  ///< guarded by mutex; set: the operation is to be done
  CardStream::Operation operation{};   ///< guarded by mutex
  bool is_done = false;                ///< guarded by mutex
  Worker* next_unused = nullptr;       ///< guarded by unused_mutex
};

constinit std::mutex unused_mutex;
constinit Worker* unused = nullptr;  // guarded by unused_mutex

void serve(Worker& worker) {
  std::unique_lock lock(worker.mutex);
  for (;;) {
    worker.changed.wait(lock, [&] { return worker.stream != nullptr; });
    std::shared_ptr<CardStream> stream = std::move(worker.stream);
    const CardStream::Operation operation = worker.operation;
    lock.unlock();
    stream->perform(operation);
    stream.reset();
    lock.lock();
    worker.is_done = true;
    worker.changed.notify_all();
  }
}

/// Returns null if no thread can be started.
Worker* take_worker() {
  {
    const std::lock_guard lock(unused_mutex);
    if (unused != nullptr) return std::exchange(unused, unused->next_unused);
  }
  try {
    auto made = std::make_unique<Worker>();
    std::thread([worker = made.get()] { serve(*worker); }).detach();
    return made.release();
  } catch (const std::exception&) {  // no thread, or no memory for it
    return nullptr;
  }
}

class ThreadRunner final : public CallRunner {
 public:
  explicit ThreadRunner(Worker& worker) : worker_(worker) {}
  ~ThreadRunner() override {
    if (is_abandoned_) return;
    const std::lock_guard lock(unused_mutex);
    worker_.next_unused = std::exchange(unused, &worker_);
  }
  ThreadRunner(const ThreadRunner&) = delete;
  ThreadRunner& operator=(const ThreadRunner&) = delete;

  bool run(const std::shared_ptr<CardStream>& stream,
           CardStream::Operation operation) noexcept override {
    stream->begin_call("the thread that calls it");
    std::unique_lock lock(worker_.mutex);
    worker_.stream = stream;
    worker_.operation = operation;
    worker_.is_done = false;
    worker_.changed.notify_all();
    while (!worker_.is_done) {
      const auto end = stream->call_began() + card_patience;
      if (CardStream::Clock::now() >= end) {
        stream->abandon();
        is_abandoned_ = true;
        return false;
      }
      worker_.changed.wait_until(lock, end);
    }
    return true;
  }

 private:
  Worker& worker_;
  bool is_abandoned_ = false;
};

}  // namespace

std::unique_ptr<CallRunner> make_thread_runner() {
  Worker* const worker = take_worker();
  if (worker == nullptr) return nullptr;
  return std::make_unique<ThreadRunner>(*worker);
}

}  // namespace mcr::codecs::gpu
