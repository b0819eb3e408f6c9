// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/pipeline/write_streams.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "test/support/catch.hpp"

using namespace mcr::aggregation;

namespace {

/// Writes that block until `wanted` of them have begun, at most ten seconds each.
class Meeting {
 public:
  explicit Meeting(unsigned wanted) : wanted_(wanted) {}

  void write() {
    std::unique_lock lock(mutex_);
    ++begun_;
    all_begun_.notify_all();
    const bool in_time =
        all_begun_.wait_for(lock, std::chrono::seconds(10), [&] { return begun_ >= wanted_; });
    met_ = in_time && met_;
  }
  /// Returns true if `wanted` writes were in flight at once, so that each of them returned in time.
  [[nodiscard]] bool met() const { return met_ && begun_ >= wanted_; }

 private:
  const unsigned wanted_;
  unsigned begun_ = 0;
  bool met_ = true;
  std::mutex mutex_;
  std::condition_variable all_begun_;
};

}  // namespace

TEST_CASE("as many writes are in flight as there are streams", "[write_streams]") {
  constexpr unsigned streams = 4;
  Meeting meeting(streams);
  WriteStreams writes(streams, 1);
  for (unsigned i = 0; i < streams; ++i) writes.add([&] { meeting.write(); });
  writes.finish();
  CHECK(meeting.met());
}

TEST_CASE("finish returns when every write is done", "[write_streams]") {
  std::atomic<unsigned> done = 0;
  WriteStreams writes(3, 2);
  for (unsigned i = 0; i < 50; ++i) {
    writes.add([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      ++done;
    });
  }
  writes.finish();
  CHECK(done == 50);
}

TEST_CASE("the destructor does not leave a write behind", "[write_streams]") {
  std::atomic<unsigned> done = 0;
  {
    WriteStreams writes(2, 8);
    for (unsigned i = 0; i < 8; ++i) {
      // Slower than add(), so that the destructor begins while writes wait and while others run.
      writes.add([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        ++done;
      });
    }
  }
  CHECK(done == 8);
}

TEST_CASE("without threads a write is done at once", "[write_streams]") {
  unsigned done = 0;
  WriteStreams writes(0, 1);
  writes.add([&] { ++done; });
  CHECK(done == 1);
}
