// SPDX-License-Identifier: BSD-3-Clause
// The class of a word: its symbol and the number of its rest bits. spec.md.
#pragma once

#include <bit>

#include "codecs/base/cpu.hpp"
#include "codecs/base/words.hpp"

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

}  // namespace mcr::codecs
