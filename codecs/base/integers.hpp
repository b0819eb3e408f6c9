// SPDX-License-Identifier: BSD-3-Clause
// Types for integers in files. They are unaligned and little-endian, and can be read from mapped
// bytes on any machine without undefined behaviour.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace mcr {

/// Returns `value` with its bytes in reverse order.
template <typename T>
constexpr T reverse_bytes(T value) {
  static_assert(std::is_unsigned_v<T>);
  if constexpr (sizeof(T) == 1) return value;
  if constexpr (sizeof(T) == 2) return __builtin_bswap16(value);
  if constexpr (sizeof(T) == 4) return __builtin_bswap32(value);
  if constexpr (sizeof(T) == 8) return __builtin_bswap64(value);
}

/// Converts `value` between this machine's byte order and little-endian.
template <typename T>
constexpr T little_endian(T value) {
  return std::endian::native == std::endian::little ? value : reverse_bytes(value);
}

/// Unsigned integer of little-endian bytes at any address.
template <typename T>
class LittleEndian {
 public:
  LittleEndian() = default;
  LittleEndian(T value) { *this = value; }  // NOLINT(*explicit*)

  LittleEndian& operator=(T value) {
    const T stored = little_endian(value);
    std::memcpy(bytes_.data(), &stored, sizeof(T));
    return *this;
  }
  operator T() const {  // NOLINT(*explicit*)
    T stored;
    std::memcpy(&stored, bytes_.data(), sizeof(T));
    return little_endian(stored);
  }

 private:
  std::array<std::byte, sizeof(T)> bytes_{};
};

using u16le = LittleEndian<std::uint16_t>;
using u32le = LittleEndian<std::uint32_t>;
using u64le = LittleEndian<std::uint64_t>;

/// Returns the T at `address`, of any alignment, in this machine's byte order.
template <typename T>
T load(const void* address) {
  static_assert(std::is_trivially_copyable_v<T>);
  T value;
  std::memcpy(&value, address, sizeof(T));
  return value;
}

/// Stores `value` at `address`, of any alignment, in this machine's byte order.
template <typename T>
void store(void* address, T value) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::memcpy(address, &value, sizeof(T));
}

}  // namespace mcr
