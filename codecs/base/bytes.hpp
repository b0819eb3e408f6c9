// SPDX-License-Identifier: BSD-3-Clause
// Bounded reading and writing of bytes. All data from files is read through Reader, where every
// read can fail. A number from a file is compared with the available bytes before memory of that
// size is allocated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codecs/base/integers.hpp"
#include "codecs/base/result.hpp"

namespace mcr {

using Bytes = std::vector<std::byte>;
using ByteSpan = std::span<const std::byte>;
using MutableByteSpan = std::span<std::byte>;

inline ByteSpan as_bytes(std::string_view text) { return std::as_bytes(std::span(text)); }
inline std::string_view as_text(ByteSpan bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
template <typename T>
ByteSpan object_bytes(const T& object) {
  static_assert(std::is_trivially_copyable_v<T>);
  return std::as_bytes(std::span(&object, 1));
}

/// a + b and a * b for numbers that were read from files: Cause::damaged if 64 bits overflow.
inline Result<std::uint64_t> checked_add(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum))
    return Error{Cause::damaged, "a size has more than 64 bits"};
  return sum;
}
inline Result<std::uint64_t> checked_multiply(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product))
    return Error{Cause::damaged, "a size has more than 64 bits"};
  return product;
}

/// Appends to a byte vector that it does not own. Integers are little-endian. `varint` is LEB128: 7
/// bits in each byte, least significant group first; the high bit is set if another byte follows.
class Writer {
 public:
  explicit Writer(Bytes& out) : out_(out) {}

  void bytes(ByteSpan data) {
    // Not insert(): gcc 12 then warns of an overrun that cannot happen (-Warray-bounds).
    const std::size_t end = out_.size();
    out_.resize(end + data.size());
    if (!data.empty()) std::memcpy(out_.data() + end, data.data(), data.size());
  }
  void u8(std::uint8_t value) { out_.push_back(std::byte{value}); }
  void u16(std::uint16_t value) { integer(value); }
  void u32(std::uint32_t value) { integer(value); }
  void u64(std::uint64_t value) { integer(value); }
  void varint(std::uint64_t value) {
    while (value >= 0x80) {
      u8(static_cast<std::uint8_t>(value | 0x80));
      value >>= 7;
    }
    u8(static_cast<std::uint8_t>(value));
  }
  /// Writes the length as varint, then the bytes.
  void text(std::string_view value) {
    varint(value.size());
    bytes(as_bytes(value));
  }
  [[nodiscard]] std::size_t size() const { return out_.size(); }

 private:
  template <typename T>
  void integer(T value) {
    const LittleEndian<T> stored(value);
    bytes(object_bytes(stored));
  }

  Bytes& out_;
};

/// Reads bytes that it does not own, from front to back. A read past the end is Cause::damaged.
class Reader {
 public:
  explicit Reader(ByteSpan data) : data_(data) {}

  [[nodiscard]] std::size_t remaining() const { return data_.size() - position_; }
  [[nodiscard]] std::size_t position() const { return position_; }

  Result<ByteSpan> bytes(std::uint64_t count) {
    if (count > remaining()) return truncated();
    const auto taken = data_.subspan(position_, static_cast<std::size_t>(count));
    position_ += taken.size();
    return taken;
  }
  Result<std::uint8_t> u8() {
    if (remaining() < 1) return truncated();
    return std::to_integer<std::uint8_t>(data_[position_++]);
  }
  Result<std::uint16_t> u16() { return integer<std::uint16_t>(); }
  Result<std::uint32_t> u32() { return integer<std::uint32_t>(); }
  Result<std::uint64_t> u64() { return integer<std::uint64_t>(); }
  /// Reads a LEB128 number of at most ten bytes. Cause::damaged if it does not fit 64 bits.
  Result<std::uint64_t> varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (remaining() < 1) return truncated();
      const auto byte = std::to_integer<std::uint64_t>(data_[position_++]);
      const std::uint64_t group = byte & 0x7f;
      if (shift == 63 && group > 1) break;
      value |= group << shift;
      if ((byte & 0x80) == 0) return value;
    }
    return Error{Cause::damaged, "a number has more than 64 bits"};
  }
  /// Reads a varint that must not exceed `limit`; `what` names it in the error.
  Result<std::uint64_t> varint_at_most(std::uint64_t limit, const char* what) {
    const std::uint64_t value = MCR_TRY(varint());
    if (value > limit) {
      return Error{Cause::damaged, std::string(what) + " " + std::to_string(value) +
                                       " is above its limit " + std::to_string(limit)};
    }
    return value;
  }
  /// Reads a length as varint, then as many characters; the length must not exceed `limit`.
  Result<std::string> text(std::size_t limit) {
    const std::uint64_t length = MCR_TRY(varint_at_most(limit, "text length"));
    return std::string(as_text(MCR_TRY(bytes(length))));
  }

 private:
  static Error truncated() { return Error{Cause::damaged, "the data ends too early"}; }

  template <typename T>
  Result<T> integer() {
    const ByteSpan raw = MCR_TRY(bytes(sizeof(T)));
    return little_endian(load<T>(raw.data()));
  }

  ByteSpan data_;
  std::size_t position_ = 0;
};

}  // namespace mcr
