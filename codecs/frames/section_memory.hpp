// SPDX-License-Identifier: BSD-3-Clause
// The memory in which a section is decoded or read. It is the caller's memory if that is aligned
// for the section's words, and otherwise memory of the object. The caller's memory may not be
// aligned, because sections follow one another without gaps.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>

#include "codecs/base/byte_order.hpp"
#include "codecs/base/layout.hpp"

namespace mcr::codecs::solid {

class SectionMemory {
 public:
  /// Uses `target` if it is not null and aligned; otherwise allocates memory, which is not
  /// initialised.
  void place(const Layout& layout, std::byte* target) {
    const std::size_t alignment = is_word_size(layout.type.size) ? layout.type.size : 1;
    const auto bytes = static_cast<std::size_t>(layout.raw_bytes());
    data_ = target;
    if (target == nullptr || reinterpret_cast<std::uintptr_t>(target) % alignment != 0) {
      own_ = std::make_unique_for_overwrite<std::uint64_t[]>(bytes / 8 + 1);
      data_ = reinterpret_cast<std::byte*>(own_.get());
    }
  }
  /// Provides the words of `bytes` in this machine's byte order; `bytes` have the byte order
  /// `order`. Copies them only if needed, so the words must not be written.
  void read(const Layout& layout, ByteSpan bytes, std::endian order) {
    const bool words = layout.type.kind != ElementKind::bytes && layout.type.size > 1;
    const bool same = !words || order == std::endian::native;
    place(layout, same ? const_cast<std::byte*>(bytes.data()) : nullptr);
    if (data_ == bytes.data() || bytes.empty()) return;
    if (same) {
      std::memcpy(data_, bytes.data(), bytes.size());
    } else {
      reverse_elements(bytes, layout.type.size, {data_, bytes.size()});
    }
  }
  [[nodiscard]] std::byte* data() const { return data_; }
  template <typename T>
  [[nodiscard]] T* words() const {
    return reinterpret_cast<T*>(data_);
  }

 private:
  std::unique_ptr<std::uint64_t[]> own_;
  std::byte* data_ = nullptr;
};

/// Converts the elements of `bytes` from one byte order to another, in place.
inline void turn(const ElementType& type, std::endian from, std::endian to, MutableByteSpan bytes) {
  if (from == to || type.kind == ElementKind::bytes || type.size == 1) return;
  reverse_elements(bytes, type.size, bytes);
}

}  // namespace mcr::codecs::solid
