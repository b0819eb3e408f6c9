// SPDX-License-Identifier: BSD-3-Clause
// One frame's work on a queue: reserves memory, keeps what is being uploaded, and gives everything
// back at its end.
#pragma once

#include <algorithm>
#include <deque>
#include <initializer_list>
#include <vector>

#include "codecs/gpu/kernels/kernel_list.hpp"
#include "codecs/gpu/queue.hpp"

namespace mcr::codecs::gpu {

class Device {
 public:
  explicit Device(Queue& queue) : queue_(queue) {}
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device() { queue_.release(); }

  Result<DeviceAddress> reserve(std::uint64_t bytes) {
    return queue_.reserve(static_cast<std::size_t>(bytes));
  }
  Result<DeviceAddress> zeros(std::uint64_t bytes) {
    const DeviceAddress address = MCR_TRY(reserve(bytes));
    MCR_TRY(queue_.fill_zero(address, static_cast<std::size_t>(bytes)));
    return address;
  }
  /// `bytes` must stay valid until finish().
  Result<DeviceAddress> upload(ByteSpan bytes) {
    const DeviceAddress address = MCR_TRY(reserve(bytes.size()));
    if (!bytes.empty()) MCR_TRY(queue_.upload(address, bytes));
    return address;
  }
  /// Fills reserved memory with `bytes`, which must stay valid until finish().
  Result<void> copy_to(DeviceAddress to, ByteSpan bytes) { return queue_.upload(to, bytes); }
  /// Copies `values`, which need not stay valid.
  template <typename T>
  Result<DeviceAddress> upload_copy(std::span<const T> values) {
    const ByteSpan bytes = std::as_bytes(values);
    return upload(kept_.emplace_back(bytes.begin(), bytes.end()));
  }
  template <typename T>
  Result<DeviceAddress> upload_copy(const std::vector<T>& values) {
    return upload_copy(std::span<const T>(values));
  }
  /// `to` is filled at finish(), and must stay valid until then.
  Result<void> download(MutableByteSpan to, DeviceAddress from) {
    if (to.empty()) return {};
    return queue_.download(to, from);
  }
  template <typename T>
  Result<void> download(std::vector<T>& to, DeviceAddress from) {
    return download(std::as_writable_bytes(std::span(to)), from);
  }

  Result<void> launch(KernelNumber kernel, std::uint64_t blocks,
                      std::initializer_list<std::uint64_t> words) {
    if (blocks == 0) return {};
    KernelArguments arguments;
    std::copy(words.begin(), words.end(), arguments.words);
    return queue_.launch(kernel, static_cast<unsigned>(blocks), arguments);
  }
  /// For kernels that divide `count` elements among any number of blocks.
  Result<void> launch_for(KernelNumber kernel, std::uint64_t count,
                          std::initializer_list<std::uint64_t> words) {
    constexpr std::uint64_t most_blocks = 4096;
    const std::uint64_t blocks = (count + k_block_threads - 1) / k_block_threads;
    return launch(kernel, std::min(blocks, most_blocks), words);
  }

  Result<void> finish() { return queue_.finish(); }

 private:
  Queue& queue_;
  std::deque<Bytes> kept_;
};

}  // namespace mcr::codecs::gpu
