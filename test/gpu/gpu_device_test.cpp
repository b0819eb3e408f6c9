// SPDX-License-Identifier: BSD-3-Clause
// Queues on a card whose driver is the fake one (meson.build sets LD_LIBRARY_PATH).
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

#include "codecs/base/checksum.hpp"
#include "codecs/frames/frame.hpp"
#include "codecs/gpu/coder/frame_coder.hpp"
#include "codecs/gpu/device/cuda_queue.hpp"
#include "codecs/gpu/lanes/card_decode.hpp"
#include "codecs/gpu/lanes/card_lanes.hpp"
#include "codecs/gpu/lanes/coding_speeds.hpp"
#include "test/support/catch.hpp"

using namespace mcr;
using namespace mcr::codecs;

namespace {

std::atomic<bool> memory_is_out{false};

}  // namespace

// Fails while memory_is_out.
void* operator new(std::size_t bytes) {
  void* const made = memory_is_out ? nullptr : std::malloc(std::max<std::size_t>(bytes, 1));
  if (made == nullptr) throw std::bad_alloc();
  return made;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

Bytes noise(std::size_t bytes) {
  Bytes data(bytes);
  std::uint64_t state = 1;
  for (std::byte& one : data) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    one = static_cast<std::byte>(state >> 56);
  }
  return data;
}

/// The open card of this process.
gpu::Card& open_card() {
  gpu::begin_to_open_card({true, 0, 64 * mib});
  gpu::await_card(std::chrono::seconds(60));
  gpu::Card* const card = gpu::card_in_use();
  INFO(gpu::why_no_card());
  REQUIRE(card != nullptr);
  return *card;
}

std::unique_ptr<gpu::Queue> make_queue(std::size_t memory = 64 * mib) {
  auto queue = open_card().make_queue(memory);
  REQUIRE(queue);
  return *std::move(queue);
}

}  // namespace

TEST_CASE("bytes larger than the pinned memory go to the card and back") {
  const auto queue = make_queue();
  const Bytes data = noise(3 * gpu::pinned_bytes + 12345);
  const auto address = queue->reserve(data.size());
  REQUIRE(address);
  REQUIRE(queue->upload(*address, data));
  Bytes back(data.size());
  REQUIRE(queue->download(back, *address));
  REQUIRE(queue->finish());
  CHECK((back == data));
}

TEST_CASE("downloads arrive at finish, and those that release() forgot do not") {
  const auto queue = make_queue();
  const Bytes data = noise(4096);
  const auto address = queue->reserve(data.size());
  REQUIRE(address);
  REQUIRE(queue->upload(*address, data));
  Bytes back(data.size());
  REQUIRE(queue->download(back, *address));
  CHECK((back == Bytes(data.size())));
  queue->release();
  REQUIRE(queue->finish());
  CHECK((back == Bytes(data.size())));
}

TEST_CASE("reserve() gives addresses of 256 bytes that do not overlap, up to the queue's memory") {
  const auto queue = make_queue(10 * mib);
  for (int round = 0; round < 3; ++round) {
    std::vector<std::pair<gpu::DeviceAddress, std::size_t>> got;
    std::size_t sum = 0;
    for (std::size_t bytes = 1;; bytes = bytes * 3 + 1) {
      const auto address = queue->reserve(bytes);
      if (!address) {
        CHECK(address.error().cause == Cause::full);
        break;
      }
      CHECK(*address % 256 == 0);
      for (const auto& [other, size] : got)
        CHECK((*address + bytes <= other || other + size <= *address));
      got.emplace_back(*address, bytes);
      sum += bytes;
      REQUIRE(queue->fill_zero(*address, bytes));
    }
    CHECK(sum <= 10 * mib);
    CHECK(sum >= 2 * mib);
    CHECK(queue->reserve(11 * mib).error().cause == Cause::full);
    queue->release();
  }
}

TEST_CASE("a process that was forked after the card was opened does not use it") {
  open_card();
  const pid_t child = ::fork();
  if (child == 0) {
    // The driver does not work in a forked process: neither its calls nor its pinned memory.
    if (gpu::card_in_use() != nullptr) ::_exit(1);
    gpu::CardLanes lanes({true, 0, 64 * mib}, 2);
    if (lanes.take()) ::_exit(2);
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(gpu::card_in_use() != nullptr);
}

TEST_CASE("frames of all sizes have the CPU's bytes, with lanes that are used again") {
  open_card();
  gpu::CardLanes lanes({true, 0, 64 * mib}, 2);
  CHECK(lanes.count() == 2);
  Scratch scratch;
  for (const std::size_t count : {1000U, 20000U, 131072U, 700001U}) {
    Bytes raw(count * sizeof(double));
    for (std::size_t i = 0; i < count; ++i) {
      const double value = static_cast<double>(i % 977) * 0.25;
      std::memcpy(raw.data() + i * sizeof value, &value, sizeof value);
    }
    const Layout layout{{ElementKind::floating, 8, false},
                        {Shape::flat(static_cast<std::uint32_t>(count))}};
    const auto pipeline = Pipeline::parse("lorenzo|class_coder");
    REQUIRE(pipeline);
    REQUIRE(gpu::can_encode(*pipeline, layout));
    Bytes by_cpu;
    REQUIRE(encode_frame(raw, layout, *pipeline, scratch, by_cpu));
    const auto first = lanes.take();
    auto second = lanes.take();
    REQUIRE(first);
    REQUIRE(second);
    CHECK(!lanes.take());
    Bytes by_card;
    REQUIRE(gpu::encode_frame(second.queue(), raw, layout, *pipeline, scratch, by_card));
    CHECK((by_card == by_cpu));
    Bytes back(raw.size());
    REQUIRE(gpu::decode_frame(second.queue(), by_card, scratch, back));
    CHECK((back == raw));
  }
}

TEST_CASE("frames go to the card while it is the faster one, and both are measured again") {
  gpu::CodingSpeeds speeds;
  const std::string kind = "k";
  const auto measure = [&](double cpu, double card) {
    speeds.measured(kind, gpu::Coder::cpu, 1000, cpu);
    speeds.measured(kind, gpu::Coder::card, 1000, card);
  };
  CHECK(speeds.next(kind) == gpu::Coder::both);
  CHECK(speeds.next(kind) ==
        gpu::Coder::both);  // in another lane, before the first one is measured
  measure(1, 50);           // the card's first frame pays for what the driver does once
  CHECK(speeds.next(kind) == gpu::Coder::both);
  measure(1, 0.1);
  CHECK(speeds.next(kind) == gpu::Coder::card);
  CHECK(speeds.next("another") == gpu::Coder::both);
  int both = 0;
  for (int i = 0; i < 1000; ++i) {
    const gpu::Coder coder = speeds.next(kind);
    if (coder != gpu::Coder::both) continue;
    ++both;
    measure(1, 10);  // the program uses the card now
  }
  CHECK(both >= 10);
  CHECK(both <= 20);
  CHECK(speeds.next(kind) == gpu::Coder::cpu);
  // Lanes that are always new are not measured. Their frames do not go to both for ever.
  both = 0;
  for (int i = 0; i < 1000; ++i) both += speeds.next("new lanes") == gpu::Coder::both ? 1 : 0;
  CHECK(both <= 50);
  speeds.refuse("another");
  for (int i = 0; i < 200; ++i) CHECK(speeds.next("another") == gpu::Coder::cpu);
}

// The last case, because the card is given up.
TEST_CASE("lanes are given back, and released, although memory has run out") {
  open_card();
  gpu::CardLanes lanes({true, 0, 64 * mib}, 2);
  { const auto lane = lanes.take(); }
  lanes.free_unused();
  auto lane = std::make_unique<gpu::CardLanes::Lane>(lanes.take());
  REQUIRE(*lane);
  CHECK(lane->is_new());
  memory_is_out = true;
  lane.reset();
  memory_is_out = false;
  auto again = lanes.take();
  REQUIRE(again);
  CHECK(!again.is_new());
  REQUIRE(again.queue().reserve(4 * mib));
  REQUIRE(again.queue().reserve(4 * mib));  // release() makes one chunk of both
  memory_is_out = true;
  again.queue().release();
  memory_is_out = false;
  // The driver has no memory either: the card is not used again, and that is said without any.
  CHECK(gpu::card_in_use() == nullptr);
  CHECK(!gpu::why_no_card().empty());
}
