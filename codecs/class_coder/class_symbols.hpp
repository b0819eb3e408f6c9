// SPDX-License-Identifier: BSD-3-Clause
// Defines the classes. spec.md.
#pragma once

#include <bit>

#include "codecs/base/words.hpp"
#include "codecs/entropy/rest_bits.hpp"

namespace mcr::codecs {

/// How many bits below the leading one belong to the symbol: as many as fit into 256 symbols.
template <typename Word>
inline constexpr unsigned class_top_bits = sizeof(Word) == 1   ? 8
                                           : sizeof(Word) == 2 ? 4
                                           : sizeof(Word) == 4 ? 3
                                                               : 2;

struct ClassAndWidth {
  unsigned symbol;
  unsigned width;
};

template <typename Word>
MCR_INLINE_LOOP ClassAndWidth classify(Word word) {
  constexpr unsigned top = class_top_bits<Word>;
  if constexpr (sizeof(Word) == 1) return {word, 0};
  // The bit `top` is set, so that words of up to `top` bits count as words of length top + 1. They
  // lose nothing.
  const auto length =
      static_cast<unsigned>(std::bit_width(static_cast<Word>(word | Word{1} << top)));
  const unsigned above = static_cast<unsigned>(std::bit_width(word)) > top ? length - top : 0;
  const unsigned width = length - top - 1;
  return {above << top | (static_cast<unsigned>(word >> width) & ((1U << top) - 1)), width};
}

template <typename Word>
entropy::RestTable<Word> class_table() {
  constexpr unsigned top = class_top_bits<Word>;
  entropy::RestTable<Word> table;
  for (unsigned symbol = 0; symbol < 256; ++symbol) {
    const unsigned above = symbol >> top;
    const unsigned mantissa = symbol & ((1U << top) - 1);
    const unsigned width = above == 0 ? 0 : above - 1;
    // A symbol that no word has gets the width 0. This is harmless, because all bits can be
    // decoded.
    if (width + top + (above != 0 ? 1 : 0) > word_bits<Word>) continue;
    const std::uint64_t lead = above == 0 ? 0 : 1ULL << top;
    table.width[symbol] = static_cast<std::uint8_t>(width);
    table.base[symbol] = static_cast<Word>((lead | mantissa) << width);
  }
  return table;
}

}  // namespace mcr::codecs
