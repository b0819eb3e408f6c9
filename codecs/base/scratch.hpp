// SPDX-License-Identifier: BSD-3-Clause
// Reusable buffers that bindings hand to kernels, so that no frame allocates once sizes have settled.
// One Scratch belongs to one thread; buffers are given back in the reverse order of taking.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace mcr {

class Scratch {
 public:
  /// A buffer that goes back to its Scratch when it ends.
  template <typename T>
  class Lease {
   public:
    Lease(Scratch& owner, std::size_t count) : owner_(owner), count_(count) {
      const std::size_t bytes = count * sizeof(T) + alignment;
      if (owner_.depth_ == owner_.buffers_.size()) owner_.buffers_.emplace_back();
      auto& buffer = owner_.buffers_[owner_.depth_++];
      if (buffer.size < bytes) {
        buffer.memory = std::make_unique_for_overwrite<std::byte[]>(bytes);
        buffer.size = bytes;
      }
      void* start = buffer.memory.get();
      std::size_t space = buffer.size;
      data_ = static_cast<T*>(std::align(alignment, count * sizeof(T), start, space));
    }
    ~Lease() { --owner_.depth_; }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

    /// `count` elements, aligned to 64 bytes, contents unspecified.
    [[nodiscard]] std::span<T> span() const { return {data_, count_}; }
    [[nodiscard]] T* data() const { return data_; }

   private:
    static constexpr std::size_t alignment = 64;
    Scratch& owner_;
    std::size_t count_;
    T* data_;
  };

  template <typename T>
  [[nodiscard]] Lease<T> take(std::size_t count) {
    return Lease<T>(*this, count);
  }

 private:
  struct Buffer {
    std::unique_ptr<std::byte[]> memory;
    std::size_t size = 0;
  };
  std::vector<Buffer> buffers_;
  std::size_t depth_ = 0;
};

}  // namespace mcr
