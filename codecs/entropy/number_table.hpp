// SPDX-License-Identifier: BSD-3-Clause
// A short list of small numbers, such as code lengths or normalised counts. Most of them are zero
// or have few bits. A number is stored as four bits with its bit length, followed by its bits below
// the leading one. The bit length 0 stands for a run of zeros, and is followed by four bits with
// the run's length minus one. spec.md, "Number table".
#pragma once

#include <bit>
#include <cstdint>
#include <span>

#include "codecs/base/bytes.hpp"

namespace mcr::codecs::entropy {

/// Returns the most bytes that `count` numbers take.
constexpr std::size_t number_table_bound(std::size_t count) { return 2 + (count * 20 + 7) / 8; }

/// Writes all of `numbers` (each below 2^15) to `out` (number_table_bound() long); returns the
/// length.
inline std::size_t write_number_table(std::span<const std::uint16_t> numbers, std::byte* out) {
  std::uint64_t bits = 0;
  unsigned held = 0;
  std::size_t length = 0;
  const auto put = [&](std::uint64_t value, unsigned width) {
    bits |= value << held;
    for (held += width; held >= 8; held -= 8, bits >>= 8) {
      out[length++] = static_cast<std::byte>(bits & 0xff);
    }
  };
  for (std::size_t i = 0; i < numbers.size();) {
    if (numbers[i] == 0) {
      std::size_t run = 1;
      while (run < 16 && i + run < numbers.size() && numbers[i + run] == 0) ++run;
      put((run - 1) << 4, 8);
      i += run;
    } else {
      const auto width = static_cast<unsigned>(std::bit_width(numbers[i]));
      put(width | (static_cast<std::uint64_t>(numbers[i]) ^ (1ULL << (width - 1))) << 4, 3 + width);
      ++i;
    }
  }
  if (held != 0) out[length++] = static_cast<std::byte>(bits & 0xff);
  return length;
}

/// Fills `numbers` from the front of `stored`. Returns how many bytes were read, or 0 if the bytes
/// are damaged.
inline std::size_t read_number_table(ByteSpan stored, std::span<std::uint16_t> numbers) {
  std::uint64_t bits = 0;
  unsigned held = 0;
  std::size_t position = 0;
  const auto take = [&](unsigned width) {
    for (; held < width; held += 8) {
      if (position < stored.size())
        bits |= std::to_integer<std::uint64_t>(stored[position]) << held;
      ++position;
    }
    const std::uint64_t value = bits & ((1ULL << width) - 1);
    bits >>= width;
    held -= width;
    return value;
  };
  for (std::size_t i = 0; i < numbers.size();) {
    const auto width = static_cast<unsigned>(take(4));
    if (width == 0) {
      const std::size_t run = static_cast<std::size_t>(take(4)) + 1;
      if (run > numbers.size() - i) return 0;
      for (std::size_t k = 0; k < run; ++k) numbers[i++] = 0;
    } else {
      numbers[i++] = static_cast<std::uint16_t>(take(width - 1) | 1ULL << (width - 1));
    }
  }
  return position > stored.size() || bits != 0 ? 0 : position;
}

}  // namespace mcr::codecs::entropy
