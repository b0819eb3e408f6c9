// SPDX-License-Identifier: BSD-3-Clause
// Parts, and writing bits where several threads share a word.
#pragma once

#include "codecs/gpu/kernels/block.hpp"

namespace mcr::codecs::gpu {

/// Bytes that a kernel made. mcr_gather brings the parts of a frame together.
struct Part {
  std::uint64_t address;
  std::uint32_t bytes;
  std::uint32_t unused;
};

/// Appends bits at some place among zeros. Each thread writes its own run of bits; the first and the
/// last word of a run may have bits of other threads.
class BitWriter {
 public:
  MCR_DEVICE BitWriter(std::uint32_t* words, std::uint32_t first_bit)
      : word_(words + first_bit / 32), used_(first_bit % 32) {}

  /// Appends the lowest `width` bits of `value`, at most 64; its other bits must be zero.
  MCR_DEVICE void put(std::uint64_t value, unsigned width) {
    if (width > 32) {
      put_short(value & 0xffffffff, 32);
      value >>= 32;
      width -= 32;
    }
    put_short(value, width);
  }
  /// The same for at most 32 bits.
  MCR_DEVICE void put_short(std::uint64_t value, unsigned width) {
    held_ |= value << used_;
    used_ += width;
    if (used_ < 32) return;
    if (is_first_) {
      atomic_or(word_, static_cast<std::uint32_t>(held_));
      is_first_ = false;
    } else {
      *word_ = static_cast<std::uint32_t>(held_);
    }
    ++word_;
    held_ >>= 32;
    used_ -= 32;
  }
  /// Writes the bits that do not fill a word.
  MCR_DEVICE void end() {
    if (held_ != 0) atomic_or(word_, static_cast<std::uint32_t>(held_));
  }

 private:
  std::uint32_t* word_;
  std::uint64_t held_ = 0;
  unsigned used_;  ///< bits of the word before the held ones, and the held ones
  bool is_first_ = true;
};

}  // namespace mcr::codecs::gpu
