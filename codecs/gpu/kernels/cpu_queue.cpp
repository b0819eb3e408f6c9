// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/gpu/kernels/cpu_queue.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "codecs/base/float_environment.hpp"
#include "codecs/gpu/kernels/block.hpp"
#include "codecs/gpu/kernels/kernel_table.hpp"

namespace mcr::codecs::gpu {
namespace {

constexpr std::size_t alignment = 256;

std::byte* memory_at(DeviceAddress address) { return reinterpret_cast<std::byte*>(address); }

/// Pseudo-random numbers; the same sequence for a seed.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::size_t below(std::size_t limit) {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<std::size_t>(state_ >> 33) % limit;
  }

 private:
  std::uint64_t state_;
};

template <typename Numbers>
void arrange(RunOrder order, Random& random, Numbers& numbers) {
  std::iota(numbers.begin(), numbers.end(), 0);
  if (order == RunOrder::reversed) std::reverse(numbers.begin(), numbers.end());
  if (order != RunOrder::shuffled) return;
  for (std::size_t i = numbers.size(); i > 1; --i) {
    std::swap(numbers[i - 1], numbers[random.below(i)]);
  }
}

}  // namespace

void CpuQueue::Free::operator()(std::byte* memory) const { std::free(memory); }

Result<DeviceAddress> CpuQueue::reserve(std::size_t bytes) {
  const Error full{Cause::full, "gpu: the queue's memory is used up"};
  if (bytes > limit_ - reserved_) return full;
  const std::size_t room =
      (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
  void* memory = nullptr;
  if (posix_memalign(&memory, alignment, room) != 0) return full;
  // Whoever needs zeros must ask for them.
  std::memset(memory, 0xa5, room);
  memory_.emplace_back(static_cast<std::byte*>(memory));
  reserved_ += bytes;
  most_reserved_ = std::max(most_reserved_, reserved_);
  return reinterpret_cast<DeviceAddress>(memory);
}

void CpuQueue::release() noexcept {
  memory_.clear();
  reserved_ = 0;
}

Result<void> CpuQueue::upload(DeviceAddress to, ByteSpan from) {
  if (!from.empty()) std::memcpy(memory_at(to), from.data(), from.size());
  return {};
}

Result<void> CpuQueue::download(MutableByteSpan to, DeviceAddress from) {
  if (!to.empty()) std::memcpy(to.data(), memory_at(from), to.size());
  return {};
}

Result<void> CpuQueue::fill_zero(DeviceAddress to, std::size_t bytes) {
  if (bytes != 0) std::memset(memory_at(to), 0, bytes);
  return {};
}

Result<void> CpuQueue::launch(KernelNumber kernel, unsigned blocks,
                              const KernelArguments& arguments) {
  const DefaultFloatEnvironment mode;
  Random random(++launches_);
  std::vector<unsigned> order(blocks);
  arrange(order_, random, order);
  std::array<std::uint8_t, k_block_threads> threads;
  for (const unsigned block : order) {
    arrange(order_, random, threads);
#if !defined(MCR_KERNEL_THREADS)
    thread_order = order_ == RunOrder::forward ? nullptr : threads.data();
#endif
    kernel_table()[kernel].run_block(block, blocks, arguments);
  }
#if !defined(MCR_KERNEL_THREADS)
  thread_order = nullptr;
#endif
  return {};
}

}  // namespace mcr::codecs::gpu
