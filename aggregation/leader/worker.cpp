// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/leader/worker.hpp"

#include <malloc.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <utility>

#include "restart/base/system.hpp"

namespace mcr::aggregation {

namespace {
/// A worker without a job for this long gives freed memory back to the system.
constexpr std::chrono::milliseconds idle_before_trim{200};
}  // namespace

Answers::Answers() : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

Answers::~Answers() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void Answers::add(std::vector<Event> events) {
  const std::lock_guard lock(mutex_);
  for (Event& event : events) events_.push_back(std::move(event));
  const std::uint64_t one = 1;
  (void)!::write(descriptor_, &one, sizeof one);
}

std::vector<Event> Answers::take() {
  const std::lock_guard lock(mutex_);
  std::uint64_t count = 0;
  (void)!::read(descriptor_, &count, sizeof count);
  return std::exchange(events_, {});
}

Worker::Worker(const char* name, Answers& answers, WhenIdle when_idle)
    : answers_(answers), when_idle_(when_idle), thread_([this] { run(); }) {
  ::pthread_setname_np(thread_.native_handle(), name);
}

Worker::~Worker() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Worker::submit(std::string what, Job job) {
  {
    const std::lock_guard lock(mutex_);
    orders_.push_back({std::move(what), std::move(job)});
  }
  wake_.notify_one();
}

void Worker::finish() {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [this] { return orders_.empty() && busy_.what.empty(); });
}

Worker::Busy Worker::busy() const {
  const std::lock_guard lock(mutex_);
  return busy_;
}

void Worker::describe(std::string what) {
  const std::lock_guard lock(mutex_);
  busy_ = {std::move(what), restart::monotonic_ms()};
}

void Worker::run() {
  for (;;) {
    Job job;
    {
      std::unique_lock lock(mutex_);
      busy_ = {};
      if (orders_.empty()) idle_.notify_all();
      const auto has_news = [this] { return ending_ || !orders_.empty(); };
      if (when_idle_ == WhenIdle::trim && !wake_.wait_for(lock, idle_before_trim, has_news)) {
        lock.unlock();
        ::malloc_trim(0);  // the process keeps what a drain frees (main())
        lock.lock();
      }
      wake_.wait(lock, has_news);
      if (ending_) return;
      job = std::move(orders_.front().job);
      busy_ = {std::move(orders_.front().what), restart::monotonic_ms()};
      orders_.pop_front();
    }
    answers_.add(job());
  }
}

}  // namespace mcr::aggregation
