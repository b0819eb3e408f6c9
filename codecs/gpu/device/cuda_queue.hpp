// SPDX-License-Identifier: BSD-3-Clause
// A queue of work on one stream of a card. Work is noted, and given to the card at finish(). The card reads and writes
// host memory only in the stream's own pinned buffer: spans of the caller are copied from and to it by the
// calling thread. So neither a card that fails or hangs, nor a driver that does not return, touches memory of the
// caller.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "codecs/gpu/device/call_runner.hpp"
#include "codecs/gpu/device/card.hpp"
#include "codecs/gpu/queue.hpp"

namespace mcr::codecs::gpu {

/// An error of the driver is Cause::system, and the card is given up; no memory left is Cause::full, and
/// the card stays in use.
class CudaQueue final : public Queue {
 public:
  static Result<std::unique_ptr<Queue>> make(Card& card, std::size_t memory_bytes);
  ~CudaQueue() override;
  CudaQueue(const CudaQueue&) = delete;
  CudaQueue& operator=(const CudaQueue&) = delete;

  Result<DeviceAddress> reserve(std::size_t bytes) override;
  void release() noexcept override;
  Result<void> upload(DeviceAddress to, ByteSpan from) override;
  Result<void> download(MutableByteSpan to, DeviceAddress from) override;
  Result<void> fill_zero(DeviceAddress to, std::size_t bytes) override;
  Result<void> launch(KernelNumber kernel, unsigned blocks,
                      const KernelArguments& arguments) override;
  Result<void> finish() override;

 private:
  using Command = CardStream::Command;
  /// A download that lies in the pinned buffer once the card is done.
  struct Delivery {
    MutableByteSpan to;
    std::size_t pinned_at = 0;
  };

  CudaQueue(Card& card, std::size_t memory_bytes, std::unique_ptr<CallRunner> runner);
  /// Lets the driver do it. Gives the card up for every error but Cause::full.
  Result<void> perform(CardStream::Operation operation);
  Result<void> add_chunk(std::size_t bytes);
  Result<void> merge_chunks();
  /// Returns free bytes of the pinned buffer, at least 1. Waits for earlier work if it is full.
  Result<MutableByteSpan> pinned_room();

  Card& card_;
  const std::size_t memory_bytes_;
  const std::unique_ptr<CallRunner> runner_;
  /// Not touched after the card was given up: an operation that never ends may use it.
  const std::shared_ptr<CardStream> stream_;
  std::size_t allocated_ = 0;   ///< bytes of all chunks
  std::size_t chunk_used_ = 0;  ///< of the last chunk
  std::size_t pinned_used_ = 0;
  std::vector<Command> commands_;  ///< not given to the card yet
  std::vector<Delivery> deliveries_;
};

}  // namespace mcr::codecs::gpu
