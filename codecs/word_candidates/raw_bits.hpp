// SPDX-License-Identifier: BSD-3-Clause
// Bits that are stored unchanged, lowest bit first. spec.md, "Raw bits".
#pragma once

#include <cstdint>

#include "codecs/base/bytes.hpp"
#include "codecs/base/integers.hpp"

namespace mcr::codecs::words {

class RawWriter {
 public:
  /// Writes the low `count` (at most 63) bits of `bits`, whose other bits must be 0.
  void put(std::uint64_t bits, unsigned count) {
    held_ |= bits << fill_;
    if (fill_ + count < 64) {
      fill_ += count;
      return;
    }
    Writer(bytes_).u64(held_);
    held_ = fill_ == 0 ? 0 : bits >> (64 - fill_);
    fill_ = fill_ + count - 64;
  }
  /// Returns all bytes; the last one is filled with zeros. No bits may be written afterwards.
  const Bytes& finish() {
    for (unsigned bit = 0; bit < fill_; bit += 8) {
      Writer(bytes_).u8(static_cast<std::uint8_t>(held_ >> bit));
    }
    fill_ = 0;
    return bytes_;
  }

 private:
  Bytes bytes_;
  std::uint64_t held_ = 0;
  unsigned fill_ = 0;
};

/// Reads zeros beyond the end. overrun() is true if that has happened.
class RawReader {
 public:
  RawReader() = default;
  explicit RawReader(ByteSpan bytes) : bytes_(bytes) {}
  std::uint64_t take(unsigned count) {
    const auto byte = static_cast<std::size_t>(at_ / 8);
    const unsigned shift = at_ % 8;
    at_ += count;
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    if (byte + 9 <= bytes_.size()) [[likely]] {
      low = little_endian(load<std::uint64_t>(bytes_.data() + byte));
      high = std::to_integer<std::uint64_t>(bytes_[byte + 8]);
    } else {
      for (std::size_t i = 0; i < 9 && byte + i < bytes_.size(); ++i) {
        const auto value = std::to_integer<std::uint64_t>(bytes_[byte + i]);
        if (i < 8) low |= value << (i * 8);
        if (i == 8) high = value;
      }
    }
    std::uint64_t value = low >> shift;
    if (shift != 0) value |= high << (64 - shift);
    return value & ((std::uint64_t{1} << count) - 1);
  }
  [[nodiscard]] bool overrun() const { return at_ > std::uint64_t{bytes_.size()} * 8; }
  [[nodiscard]] bool ended() const { return (at_ + 7) / 8 == bytes_.size(); }

 private:
  ByteSpan bytes_;
  std::uint64_t at_ = 0;
};

}  // namespace mcr::codecs::words
