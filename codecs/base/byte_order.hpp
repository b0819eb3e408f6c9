// SPDX-License-Identifier: BSD-3-Clause
// Reverses the bytes of every element of an array.
#pragma once

#include <cstddef>

#include "codecs/base/bytes.hpp"

namespace mcr {

/// True if reverse_elements() takes elements of `size` bytes.
inline bool is_word_size(std::size_t size) {
  return size == 1 || size == 2 || size == 4 || size == 8;
}

namespace detail {
template <typename T>
void reverse_words(const std::byte* from, std::byte* to, std::size_t bytes) {
  for (std::size_t i = 0; i + sizeof(T) <= bytes; i += sizeof(T)) {
    store<T>(to + i, reverse_bytes(load<T>(from + i)));
  }
}
}  // namespace detail

/// Copies `from` to `to` with the bytes of each element in reverse order. The ranges are equally
/// long, and either equal or disjoint. `size` is an element's size: 1, 2, 4 or 8 bytes, and a
/// divisor of the length.
inline void reverse_elements(ByteSpan from, std::size_t size, MutableByteSpan to) {
  const std::size_t bytes = to.size();
  if (size == 1 && to.data() != from.data() && bytes != 0) {
    std::memcpy(to.data(), from.data(), bytes);
  }
  if (size == 2) detail::reverse_words<std::uint16_t>(from.data(), to.data(), bytes);
  if (size == 4) detail::reverse_words<std::uint32_t>(from.data(), to.data(), bytes);
  if (size == 8) detail::reverse_words<std::uint64_t>(from.data(), to.data(), bytes);
}

}  // namespace mcr
