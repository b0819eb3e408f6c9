// SPDX-License-Identifier: BSD-3-Clause
// Elements as unsigned words: the type for a size, and the steps that many kernels share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace mcr {

/// Calls `call(Word{})` with the unsigned type of `size` bytes. The size must be 1, 2, 4 or 8.
template <typename Call>
decltype(auto) with_word(std::size_t size, Call&& call) {
  switch (size) {
    case 1:
      return call(std::uint8_t{});
    case 2:
      return call(std::uint16_t{});
    case 4:
      return call(std::uint32_t{});
    default:
      return call(std::uint64_t{});
  }
}

template <typename Word>
inline constexpr unsigned word_bits = sizeof(Word) * 8;

/// The word's highest bit.
template <typename Word>
inline constexpr Word sign_bit = static_cast<Word>(Word{1} << (word_bits<Word> - 1));

/// Returns all ones if the highest bit is set, else zero.
template <typename Word>
constexpr Word sign_mask(Word word) {
  return static_cast<Word>(static_cast<std::make_signed_t<Word>>(word) >> (word_bits<Word> - 1));
}

/// Maps 0, -1, 1, -2, … to 0, 1, 2, 3, …, so that small differences of either sign become small
/// numbers.
template <typename Word>
constexpr Word zigzag(Word difference) {
  return static_cast<Word>(static_cast<Word>(difference << 1) ^ sign_mask(difference));
}
template <typename Word>
constexpr Word unzigzag(Word number) {
  return static_cast<Word>(static_cast<Word>(number >> 1) ^ static_cast<Word>(0 - (number & 1)));
}

/// Maps IEEE bits to integers in the order of the numbers, with -NaN lowest. Positive numbers get
/// the highest bit set; negative numbers are inverted. The mapping is a bijection.
template <typename Word>
constexpr Word ordered_from_float(Word bits) {
  return static_cast<Word>(bits ^ (sign_mask(bits) | sign_bit<Word>));
}
template <typename Word>
constexpr Word float_from_ordered(Word ordered) {
  return static_cast<Word>(ordered ^ (sign_mask(static_cast<Word>(~ordered)) | sign_bit<Word>));
}

}  // namespace mcr
