// SPDX-License-Identifier: BSD-3-Clause
// Runs kernels on the CPU: device addresses are addresses of this process. For tests, which so run
// the accelerator's algorithms on every machine, and find accesses outside of reserved memory with
// the address sanitizer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "codecs/gpu/queue.hpp"

namespace mcr::codecs::gpu {

/// The order in which the threads between two barriers, and the blocks of a launch, run. An
/// accelerator promises none, so results must not depend on it.
enum class RunOrder : std::uint8_t { forward, reversed, shuffled };

class CpuQueue final : public Queue {
 public:
  explicit CpuQueue(std::size_t memory_limit = SIZE_MAX, RunOrder order = RunOrder::forward)
      : limit_(memory_limit), order_(order) {}

  Result<DeviceAddress> reserve(std::size_t bytes) override;
  void release() noexcept override;
  Result<void> upload(DeviceAddress to, ByteSpan from) override;
  Result<void> download(MutableByteSpan to, DeviceAddress from) override;
  Result<void> fill_zero(DeviceAddress to, std::size_t bytes) override;
  Result<void> launch(KernelNumber kernel, unsigned blocks,
                      const KernelArguments& arguments) override;
  Result<void> finish() override { return {}; }

  /// The most bytes that were reserved at once.
  [[nodiscard]] std::size_t most_reserved() const { return most_reserved_; }

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  std::vector<std::unique_ptr<std::byte, Free>> memory_;
  std::size_t limit_;
  std::size_t reserved_ = 0;
  std::size_t most_reserved_ = 0;
  RunOrder order_;
  std::uint64_t launches_ = 0;
};

}  // namespace mcr::codecs::gpu
