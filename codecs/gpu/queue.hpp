// SPDX-License-Identifier: BSD-3-Clause
// One queue of work on an accelerator, and memory that belongs to it. Coders of frames are written against this
// interface only, so that the same code runs on a card (through its driver) and, in tests, on the CPU.
#pragma once

#include <cstddef>

#include "codecs/base/bytes.hpp"
#include "codecs/base/result.hpp"
#include "codecs/gpu/kernel_arguments.hpp"

namespace mcr::codecs::gpu {

/// Work of one queue is done in the order in which it was given, and not at once: spans given to upload() and
/// download() must stay valid until finish() or release(). A Queue is used by one thread.
class Queue {
 public:
  virtual ~Queue() = default;

  /// Returns `bytes` of device memory, aligned to 256 bytes, with any contents. Cause::full: the queue's share
  /// of the card's memory (or the card itself) has no room.
  [[nodiscard]] virtual Result<DeviceAddress> reserve(std::size_t bytes) = 0;

  /// Makes all memory of reserve() free again. Work that finish() has not ended is dropped or ended, and its
  /// downloads are not delivered. Touches no span of the caller.
  virtual void release() noexcept = 0;

  [[nodiscard]] virtual Result<void> upload(DeviceAddress to, ByteSpan from) = 0;
  [[nodiscard]] virtual Result<void> download(MutableByteSpan to, DeviceAddress from) = 0;
  [[nodiscard]] virtual Result<void> fill_zero(DeviceAddress to, std::size_t bytes) = 0;
  [[nodiscard]] virtual Result<void> launch(KernelNumber kernel, unsigned blocks,
                                            const KernelArguments& arguments) = 0;

  /// Waits until all work is done. An error of any earlier work may be returned here only.
  [[nodiscard]] virtual Result<void> finish() = 0;
};

}  // namespace mcr::codecs::gpu
