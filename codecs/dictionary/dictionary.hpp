// SPDX-License-Identifier: BSD-3-Clause
// Converts words to indices in a sorted table of the distinct words, and back. spec.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "codecs/base/bytes.hpp"

namespace mcr::codecs {

inline constexpr std::size_t max_dictionary_words = std::size_t{1} << 16;

/// Returns the distinct words among `count` words of `size` (2, 4 or 8) bytes, in ascending order.
/// Returns an empty table if there are more than `limit`. Words are ordered as unsigned integers
/// or, if `floating`, as IEEE numbers.
std::vector<std::uint64_t> distinct_words(std::size_t size, bool floating, const std::byte* words,
                                          std::size_t count, std::size_t limit);

/// Writes each word's index in `table` to `numbers`. `table` is the result of distinct_words() for
/// these words.
void dictionary_encode(std::size_t size, const std::byte* words, std::size_t count,
                       const std::vector<std::uint64_t>& table, std::uint16_t* numbers);

/// The inverse; returns false if a number is not in the table. `table` holds words as in memory.
[[nodiscard]] bool dictionary_decode(std::size_t size, const std::uint16_t* numbers,
                                     std::size_t count, const std::byte* table,
                                     std::size_t table_count, std::byte* words);

}  // namespace mcr::codecs
