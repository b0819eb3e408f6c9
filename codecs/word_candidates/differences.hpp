// SPDX-License-Identifier: BSD-3-Clause
// Differences of words. If two values are near, their difference is a small integer. See spec.md,
// "Differences".
#pragma once

#include <bit>
#include <cstdint>

namespace mcr::codecs::words {

/// How words are converted to integers whose differences are small for near values.
enum class Numbers : std::uint8_t { integer = 0, floating = 1 };

template <typename T>
inline constexpr unsigned word_bits = sizeof(T) * 8;

/// Maps a floating-point word to an integer in the order of the values. NaNs lie beyond the
/// infinities.
template <typename T>
T ordered(T word) {
  constexpr T sign = T{1} << (word_bits<T> - 1);
  return (word & sign) != 0 ? static_cast<T>(~word) : static_cast<T>(word | sign);
}
template <typename T>
T unordered(T word) {
  constexpr T sign = T{1} << (word_bits<T> - 1);
  return (word & sign) != 0 ? static_cast<T>(word ^ sign) : static_cast<T>(~word);
}

/// Maps 0, -1, 1, -2, 2 … to 0, 1, 2, 3, 4 …
template <typename T>
T zigzag(T value) {
  return static_cast<T>((value << 1) ^ (T{0} - static_cast<T>(value >> (word_bits<T> - 1))));
}
template <typename T>
T unzigzag(T value) {
  return static_cast<T>((value >> 1) ^ (T{0} - (value & 1)));
}

/// Returns the number that is coded to get from `prediction` to `word`. It is 0 only if the two are
/// equal.
template <typename T>
T difference(Numbers numbers, T word, T prediction) {
  if (numbers == Numbers::floating) {
    return zigzag<T>(static_cast<T>(ordered(word) - ordered(prediction)));
  }
  return zigzag<T>(static_cast<T>(word - prediction));
}
template <typename T>
T restored(Numbers numbers, T coded, T prediction) {
  if (numbers == Numbers::floating) {
    return unordered<T>(static_cast<T>(ordered(prediction) + unzigzag(coded)));
  }
  return static_cast<T>(prediction + unzigzag(coded));
}

template <typename T>
unsigned bit_length(T value) {
  return static_cast<unsigned>(std::bit_width(value));
}

/// Returns about how many bits `word` costs with the prediction `prediction`.
template <typename T>
unsigned cost(Numbers numbers, T word, T prediction) {
  const unsigned length = bit_length(difference(numbers, word, prediction));
  return length == 0 ? 0 : length + 2;
}

}  // namespace mcr::codecs::words
