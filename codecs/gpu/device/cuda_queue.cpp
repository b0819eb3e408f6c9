// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/gpu/device/cuda_queue.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

namespace mcr::codecs::gpu {
namespace {

constexpr std::size_t alignment = 256;
/// The smallest piece of the card's memory that a queue asks for.
constexpr std::size_t least_chunk = std::size_t{4} << 20;
constexpr const char* no_memory = "memory ran out";

Error given_up() { return {Cause::system, "the card is not used any more"}; }

}  // namespace

CudaQueue::CudaQueue(Card& card, std::size_t memory_bytes, std::unique_ptr<CallRunner> runner)
    : card_(card),
      memory_bytes_(memory_bytes),
      runner_(std::move(runner)),
      stream_(std::make_shared<CardStream>(card.handles_)) {}

Result<std::unique_ptr<Queue>> CudaQueue::make(Card& card, std::size_t memory_bytes) {
  auto runner = card.make_runner_();
  if (!runner) return Error{Cause::full, "no thread can be started"};
  std::unique_ptr<CudaQueue> queue(new CudaQueue(card, memory_bytes, std::move(runner)));
  MCR_TRY(queue->perform(&CardStream::open));
  return std::unique_ptr<Queue>(std::move(queue));
}

/// Gives up the memory instead of freeing it if the card has failed: it may still write there, and a
/// call that frees memory waits for the card.
CudaQueue::~CudaQueue() {
  try {
    if (!card_.is_given_up()) (void)perform(&CardStream::close).has_value();
  } catch (const std::exception&) {
    card_.give_up(no_memory);
  }
}

Result<void> CudaQueue::perform(CardStream::Operation operation) {
  if (card_.is_given_up()) return given_up();
  if (!runner_->run(stream_, operation)) {
    card_.give_up(std::string("its driver did not return from ") + stream_->call_name() + " for " +
                  std::to_string(card_patience.count()) + " s");
    return given_up();
  }
  Result<void> outcome = std::exchange(stream_->outcome, {});
  if (!outcome && outcome.error().cause != Cause::full) card_.give_up(outcome.error().message);
  return outcome;
}

Result<DeviceAddress> CudaQueue::reserve(std::size_t bytes) {
  if (card_.is_given_up()) return given_up();
  if (bytes > memory_bytes_) return Error{Cause::full, "more than gpu_memory= allows"};
  const std::size_t needed =
      (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  if (stream_->chunks.empty() || stream_->chunks.back().bytes - chunk_used_ < needed)
    MCR_TRY(add_chunk(needed));
  const DeviceAddress address = stream_->chunks.back().begin + chunk_used_;
  chunk_used_ += needed;
  return address;
}

Result<void> CudaQueue::add_chunk(std::size_t bytes) {
  const std::size_t left = memory_bytes_ - allocated_;
  if (bytes > left) return Error{Cause::full, "more than gpu_memory= allows"};
  const std::size_t size = std::min(std::max({bytes, least_chunk, allocated_}), left);
  stream_->wanted_bytes = size;
  MCR_TRY(perform(&CardStream::add_chunk));
  allocated_ += size;
  chunk_used_ = 0;
  return {};
}

/// Takes one chunk as large as all, so that later frames need no allocation.
Result<void> CudaQueue::merge_chunks() {
  stream_->wanted_bytes = std::exchange(allocated_, 0);
  const Result<void> done = perform(&CardStream::replace_chunks);
  if (card_.is_given_up()) return given_up();
  for (const CardStream::Chunk& chunk : stream_->chunks) allocated_ += chunk.bytes;
  return done;
}

void CudaQueue::release() noexcept {
  commands_.clear();
  deliveries_.clear();
  pinned_used_ = 0;
  chunk_used_ = 0;
  try {
    if (!card_.is_given_up() && stream_->chunks.size() > 1) (void)merge_chunks().has_value();
  } catch (const std::exception&) {
    card_.give_up(no_memory);
  }
}

Result<MutableByteSpan> CudaQueue::pinned_room() {
  if (pinned_used_ == pinned_bytes) MCR_TRY(finish());
  if (card_.is_given_up()) return given_up();
  return MutableByteSpan(stream_->pinned + pinned_used_, pinned_bytes - pinned_used_);
}

Result<void> CudaQueue::upload(DeviceAddress to, ByteSpan from) {
  while (!from.empty()) {
    const MutableByteSpan room = MCR_TRY(pinned_room());
    const std::size_t bytes = std::min(room.size(), from.size());
    std::memcpy(room.data(), from.data(), bytes);
    commands_.push_back(
        {.kind = Command::Kind::upload, .address = to, .pinned_at = pinned_used_, .bytes = bytes});
    pinned_used_ += bytes;
    to += bytes;
    from = from.subspan(bytes);
  }
  return {};
}

Result<void> CudaQueue::download(MutableByteSpan to, DeviceAddress from) {
  while (!to.empty()) {
    const MutableByteSpan room = MCR_TRY(pinned_room());
    const std::size_t bytes = std::min(room.size(), to.size());
    deliveries_.push_back({to.first(bytes), pinned_used_});
    commands_.push_back({.kind = Command::Kind::download,
                         .address = from,
                         .pinned_at = pinned_used_,
                         .bytes = bytes});
    pinned_used_ += bytes;
    from += bytes;
    to = to.subspan(bytes);
  }
  return {};
}

Result<void> CudaQueue::fill_zero(DeviceAddress to, std::size_t bytes) {
  if (bytes != 0)
    commands_.push_back({.kind = Command::Kind::fill_zero, .address = to, .bytes = bytes});
  return {};
}

Result<void> CudaQueue::launch(KernelNumber kernel, unsigned blocks,
                               const KernelArguments& arguments) {
  if (kernel >= card_.handles_->kernels.size())
    return Error{Cause::usage, "there is no such kernel"};
  if (blocks == 0) return {};
  commands_.push_back(
      {.kind = Command::Kind::launch, .kernel = kernel, .blocks = blocks, .arguments = arguments});
  return {};
}

Result<void> CudaQueue::finish() {
  if (card_.is_given_up()) return given_up();
  if (!commands_.empty()) {
    stream_->commands.swap(commands_);
    MCR_TRY(perform(&CardStream::execute_commands));
    for (const Delivery& delivery : deliveries_)
      std::memcpy(delivery.to.data(), stream_->pinned + delivery.pinned_at, delivery.to.size());
  }
  deliveries_.clear();
  pinned_used_ = 0;
  return {};
}

}  // namespace mcr::codecs::gpu
