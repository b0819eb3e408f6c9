// SPDX-License-Identifier: BSD-3-Clause
// Memory for buffers of any size, whose bytes are written before they are read. Where the system
// leaves huge pages to programs (`madvise` in /sys/kernel/mm/transparent_hugepage/enabled), large
// buffers ask for them: most of these buffers are filled only once or twice, so that page faults
// took half of the decoding's time.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <memory>
#include <new>

namespace mcr {

/// Frees what make_buffer() made.
struct FreeBuffer {
  bool is_large = false;
  void operator()(std::byte* memory) const;
};
using Buffer = std::unique_ptr<std::byte[], FreeBuffer>;

/// Size and alignment of a huge page on x86-64, and of the usual ones elsewhere.
inline constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;

inline void FreeBuffer::operator()(std::byte* memory) const {
  if (is_large) {
    ::operator delete[](memory, std::align_val_t{huge_page_bytes});
  } else {
    ::operator delete[](memory);
  }
}

/// Returns `bytes` bytes with any content.
inline Buffer make_buffer(std::size_t bytes) {
  const bool is_large = bytes >= 2 * huge_page_bytes;
  if (!is_large) return {static_cast<std::byte*>(::operator new[](bytes)), {is_large}};
  void* const memory = ::operator new[](bytes, std::align_val_t{huge_page_bytes});
  (void)::madvise(memory, bytes / huge_page_bytes * huge_page_bytes, MADV_HUGEPAGE);
  return {static_cast<std::byte*>(memory), {is_large}};
}

}  // namespace mcr
