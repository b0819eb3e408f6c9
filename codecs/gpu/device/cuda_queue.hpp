// SPDX-License-Identifier: BSD-3-Clause
// A queue of work on one stream of a card. The card reads and writes host memory only in the queue's own
// pinned buffer: spans of the caller are copied from and to it by the calling thread. So a card that
// fails or hangs never touches memory of the caller, whatever the caller does with it.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "codecs/gpu/device/card.hpp"
#include "codecs/gpu/queue.hpp"

namespace mcr::codecs::gpu {

/// Pinned memory of each queue.
inline constexpr std::size_t pinned_bytes = std::size_t{4} << 20;
/// The card has failed if it does not end a queue's work in this time. The program's own work comes first
/// on the card, so that this must be longer than the program's kernels.
inline constexpr std::chrono::seconds card_patience{5};

/// An error of the driver is Cause::system, and the card is given up; no memory left is Cause::full, and
/// the card stays in use.
class CudaQueue final : public Queue {
 public:
  static Result<std::unique_ptr<Queue>> make(Card& card, std::size_t memory_bytes);
  ~CudaQueue() override;
  CudaQueue(const CudaQueue&) = delete;
  CudaQueue& operator=(const CudaQueue&) = delete;

  Result<DeviceAddress> reserve(std::size_t bytes) override;
  void release() override;
  Result<void> upload(DeviceAddress to, ByteSpan from) override;
  Result<void> download(MutableByteSpan to, DeviceAddress from) override;
  Result<void> fill_zero(DeviceAddress to, std::size_t bytes) override;
  Result<void> launch(KernelNumber kernel, unsigned blocks,
                      const KernelArguments& arguments) override;
  Result<void> finish() override;

 private:
  struct Chunk {
    DriverAddress begin = 0;
    std::size_t bytes = 0;
  };
  /// A download that lies in the pinned buffer once the card is done.
  struct Delivery {
    MutableByteSpan to;
    const std::byte* from = nullptr;
  };

  CudaQueue(Card& card, std::size_t memory_bytes) : card_(card), memory_bytes_(memory_bytes) {}
  /// Turns a status into a result.
  Result<void> check(DriverStatus status, const char* what);
  Result<void> add_chunk(std::size_t bytes);
  void free_chunks();
  /// Returns free bytes of the pinned buffer, at least 1. Waits for earlier work if it is full.
  Result<MutableByteSpan> pinned_room();
  /// Waits until the card has done all work.
  Result<void> wait();

  Card& card_;
  const std::size_t memory_bytes_;
  DriverStream stream_ = nullptr;
  std::vector<Chunk> chunks_;
  std::size_t allocated_ = 0;   ///< bytes of all chunks
  std::size_t chunk_used_ = 0;  ///< of the last chunk
  std::byte* pinned_ = nullptr;
  std::size_t pinned_used_ = 0;
  std::vector<Delivery> deliveries_;
  bool is_working_ = false;  ///< work was given since the last wait()
};

}  // namespace mcr::codecs::gpu
