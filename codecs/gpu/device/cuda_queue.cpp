// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/gpu/device/cuda_queue.hpp"

#include <algorithm>
#include <cstring>
#include <thread>

namespace mcr::codecs::gpu {
namespace {

constexpr std::size_t alignment = 256;
/// The smallest piece of the card's memory that a queue asks for.
constexpr std::size_t least_chunk = std::size_t{4} << 20;

}  // namespace

Result<std::unique_ptr<Queue>> CudaQueue::make(Card& card, std::size_t memory_bytes) {
  std::unique_ptr<CudaQueue> queue(new CudaQueue(card, memory_bytes));
  const ContextScope scope(card.driver_, card.context_);
  MCR_TRY(queue->check(scope.status(), "its context cannot be used"));
  MCR_TRY(queue->check(card.driver_.StreamCreateWithPriority(&queue->stream_, stream_non_blocking,
                                                             card.lowest_priority_),
                       "no stream can be made"));
  void* pinned = nullptr;
  MCR_TRY(queue->check(card.driver_.MemHostAlloc(&pinned, pinned_bytes, 0),
                       "no pinned memory can be had"));
  queue->pinned_ = static_cast<std::byte*>(pinned);
  return std::unique_ptr<Queue>(std::move(queue));
}

/// Gives up the memory instead of freeing it if the card has failed: it may still write there, and a
/// call that frees memory waits for the card.
CudaQueue::~CudaQueue() {
  release();
  if (card_.is_given_up()) return;
  const ContextScope scope(card_.driver_, card_.context_);
  if (scope.status() != status_success) return;
  free_chunks();
  if (pinned_ != nullptr) card_.driver_.MemFreeHost(pinned_);
  if (stream_ != nullptr) card_.driver_.StreamDestroy_v2(stream_);
}

Result<void> CudaQueue::check(DriverStatus status, const char* what) {
  if (status == status_success) return {};
  const std::string message = std::string(what) + ": " + status_text(card_.driver_, status);
  if (status == status_out_of_memory) return Error{Cause::full, message};
  card_.give_up(message);
  return Error{Cause::system, message};
}

Result<DeviceAddress> CudaQueue::reserve(std::size_t bytes) {
  if (bytes > memory_bytes_) return Error{Cause::full, "more than gpu_memory= allows"};
  const std::size_t needed =
      (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  if (chunks_.empty() || chunks_.back().bytes - chunk_used_ < needed) MCR_TRY(add_chunk(needed));
  const DeviceAddress address = chunks_.back().begin + chunk_used_;
  chunk_used_ += needed;
  return address;
}

Result<void> CudaQueue::add_chunk(std::size_t bytes) {
  const std::size_t left = memory_bytes_ - allocated_;
  if (bytes > left) return Error{Cause::full, "more than gpu_memory= allows"};
  const std::size_t size = std::min(std::max({bytes, least_chunk, allocated_}), left);
  const ContextScope scope(card_.driver_, card_.context_);
  MCR_TRY(check(scope.status(), "its context cannot be used"));
  DriverAddress begin = 0;
  MCR_TRY(check(card_.driver_.MemAlloc_v2(&begin, size), "no memory"));
  chunks_.push_back({begin, size});
  allocated_ += size;
  chunk_used_ = 0;
  return {};
}

void CudaQueue::free_chunks() {
  for (const Chunk& chunk : chunks_) (void)check(card_.driver_.MemFree_v2(chunk.begin), "freeing");
  chunks_.clear();
  allocated_ = 0;
  chunk_used_ = 0;
}

void CudaQueue::release() {
  deliveries_.clear();
  if (is_working_) (void)wait().has_value();  // an error gives the card up
  pinned_used_ = 0;
  if (chunks_.size() > 1 && !card_.is_given_up()) {
    // Takes one chunk as large as all next time, so that later frames need no allocation.
    const std::size_t all = allocated_;
    const ContextScope scope(card_.driver_, card_.context_);
    if (scope.status() == status_success) free_chunks();
    if (chunks_.empty()) (void)add_chunk(all).has_value();
  }
  chunk_used_ = 0;
}

Result<MutableByteSpan> CudaQueue::pinned_room() {
  if (pinned_used_ == pinned_bytes) MCR_TRY(finish());
  return MutableByteSpan(pinned_ + pinned_used_, pinned_bytes - pinned_used_);
}

Result<void> CudaQueue::upload(DeviceAddress to, ByteSpan from) {
  while (!from.empty()) {
    const MutableByteSpan room = MCR_TRY(pinned_room());
    const std::size_t bytes = std::min(room.size(), from.size());
    std::memcpy(room.data(), from.data(), bytes);
    pinned_used_ += bytes;
    const ContextScope scope(card_.driver_, card_.context_);
    MCR_TRY(check(scope.status(), "its context cannot be used"));
    is_working_ = true;
    MCR_TRY(check(card_.driver_.MemcpyHtoDAsync_v2(to, room.data(), bytes, stream_),
                  "a copy to the card failed"));
    to += bytes;
    from = from.subspan(bytes);
  }
  return {};
}

Result<void> CudaQueue::download(MutableByteSpan to, DeviceAddress from) {
  while (!to.empty()) {
    const MutableByteSpan room = MCR_TRY(pinned_room());
    const std::size_t bytes = std::min(room.size(), to.size());
    pinned_used_ += bytes;
    const ContextScope scope(card_.driver_, card_.context_);
    MCR_TRY(check(scope.status(), "its context cannot be used"));
    is_working_ = true;
    MCR_TRY(check(card_.driver_.MemcpyDtoHAsync_v2(room.data(), from, bytes, stream_),
                  "a copy from the card failed"));
    deliveries_.push_back({to.first(bytes), room.data()});
    from += bytes;
    to = to.subspan(bytes);
  }
  return {};
}

Result<void> CudaQueue::fill_zero(DeviceAddress to, std::size_t bytes) {
  if (bytes == 0) return {};
  const ContextScope scope(card_.driver_, card_.context_);
  MCR_TRY(check(scope.status(), "its context cannot be used"));
  is_working_ = true;
  return check(card_.driver_.MemsetD8Async(to, 0, bytes, stream_), "memory cannot be cleared");
}

Result<void> CudaQueue::launch(KernelNumber kernel, unsigned blocks,
                               const KernelArguments& arguments) {
  if (kernel >= card_.kernels_.size()) return Error{Cause::usage, "there is no such kernel"};
  if (blocks == 0) return {};
  const ContextScope scope(card_.driver_, card_.context_);
  MCR_TRY(check(scope.status(), "its context cannot be used"));
  is_working_ = true;
  KernelArguments copy = arguments;  // the driver takes a pointer to mutable memory
  void* parameters[] = {&copy};
  return check(card_.driver_.LaunchKernel(card_.kernels_[kernel], blocks, 1, 1, k_block_threads, 1,
                                          1, 0, stream_, parameters, nullptr),
               "a kernel cannot be started");
}

Result<void> CudaQueue::finish() {
  MCR_TRY(wait());
  for (const Delivery& delivery : deliveries_)
    std::memcpy(delivery.to.data(), delivery.from, delivery.to.size());
  deliveries_.clear();
  pinned_used_ = 0;
  return {};
}

/// Asks again and again instead of calling the driver's own wait, which spins on a core that the program
/// may need, and which does not return if the card hangs.
Result<void> CudaQueue::wait() {
  using Clock = std::chrono::steady_clock;
  if (!is_working_) return {};
  if (card_.is_given_up()) return Error{Cause::system, "the card is not used any more"};
  const ContextScope scope(card_.driver_, card_.context_);
  MCR_TRY(check(scope.status(), "its context cannot be used"));
  const Clock::time_point end = Clock::now() + card_patience;
  auto pause = std::chrono::microseconds(10);
  constexpr auto longest_pause = std::chrono::microseconds(200);
  for (;;) {
    const DriverStatus status = card_.driver_.StreamQuery(stream_);
    if (status != status_not_ready) {
      is_working_ = status != status_success;
      return check(status, "its work failed");
    }
    if (Clock::now() >= end) {
      const std::string message =
          "it did not answer for " + std::to_string(card_patience.count()) + " s";
      card_.give_up(message);
      return Error{Cause::system, message};
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, longest_pause);
  }
}

}  // namespace mcr::codecs::gpu
