// SPDX-License-Identifier: BSD-3-Clause
// Reusable buffers and library contexts. Once sizes have settled, frames are coded without
// allocations. A Scratch is used by one thread. Buffers must be returned in the reverse order of
// taking.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "codecs/base/large_buffer.hpp"

namespace mcr {

class Scratch {
 public:
  Scratch() = default;
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() {
    for (const Context& context : contexts_) context.destroy(context.object);
  }

  /// A buffer that returns to its Scratch when the object ends.
  template <typename T>
  class Lease {
   public:
    Lease(Scratch& owner, std::size_t count) : owner_(owner), count_(count) {
      const std::size_t bytes = count * sizeof(T) + alignment;
      if (owner_.depth_ == owner_.buffers_.size()) owner_.buffers_.emplace_back();
      auto& buffer = owner_.buffers_[owner_.depth_++];
      if (buffer.size < bytes) {
        buffer.memory = make_buffer(bytes);
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

  /// An empty byte vector that keeps its capacity and returns to its Scratch when the object ends.
  class Vector {
   public:
    explicit Vector(Scratch& owner) : owner_(owner) {
      if (owner_.vector_depth_ == owner_.vectors_.size()) owner_.vectors_.emplace_back();
      bytes_ = &owner_.vectors_[owner_.vector_depth_++];
      bytes_->clear();
    }
    ~Vector() { --owner_.vector_depth_; }
    Vector(const Vector&) = delete;
    Vector& operator=(const Vector&) = delete;

    std::vector<std::byte>& operator*() const { return *bytes_; }
    std::vector<std::byte>* operator->() const { return bytes_; }

   private:
    Scratch& owner_;
    std::vector<std::byte>* bytes_;
  };

  template <typename T>
  [[nodiscard]] Lease<T> take(std::size_t count) {
    return Lease<T>(*this, count);
  }
  [[nodiscard]] Vector take_vector() { return Vector(*this); }

  /// Returns a context of a library. `Create()` makes it at the first call, and `Destroy` ends it
  /// together with this Scratch. Returns null if Create returned null.
  template <auto Create, auto Destroy>
  [[nodiscard]] auto* context() {
    using Object = std::remove_pointer_t<decltype(Create())>;
    constexpr auto destroy = +[](void* object) { Destroy(static_cast<Object*>(object)); };
    for (const Context& kept : contexts_) {
      if (kept.destroy == destroy) return static_cast<Object*>(kept.object);
    }
    Object* object = Create();
    if (object != nullptr) contexts_.push_back({object, destroy});
    return object;
  }

 private:
  struct Kept {
    Buffer memory;
    std::size_t size = 0;
  };
  struct Context {
    void* object;
    void (*destroy)(void*);
  };
  std::vector<Kept> buffers_;
  std::size_t depth_ = 0;
  std::deque<std::vector<std::byte>> vectors_;  // a deque: references to its elements stay valid
  std::size_t vector_depth_ = 0;
  std::vector<Context> contexts_;
};

}  // namespace mcr
