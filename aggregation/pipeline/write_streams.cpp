// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/pipeline/write_streams.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

namespace mcr::aggregation {

WriteStreams::WriteStreams(unsigned count, std::size_t most_waiting) {
  writes_.set_capacity(static_cast<std::ptrdiff_t>(std::max<std::size_t>(most_waiting, 1)));
  threads_.reserve(count);
  try {
    while (threads_.size() < count) threads_.emplace_back([this] { run(); });
  } catch (const std::system_error&) {
    // The process limit is reached: go on with the threads that started.
  }
}

WriteStreams::~WriteStreams() { finish(); }

void WriteStreams::add(std::function<void()> write) {
  if (threads_.empty()) {
    write();
  } else {
    writes_.push(std::move(write));
  }
}

void WriteStreams::finish() {
  for (std::size_t i = 0; i < threads_.size(); ++i) writes_.push({});
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void WriteStreams::run() {
  for (;;) {
    std::function<void()> write;
    writes_.pop(write);
    if (!write) return;
    write();
  }
}

}  // namespace mcr::aggregation
