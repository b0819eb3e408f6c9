// SPDX-License-Identifier: BSD-3-Clause
// What a class decodes to. spec.md.
#pragma once

#include "codecs/class_coder/word_class.hpp"
#include "codecs/entropy/rest_bits.hpp"

namespace mcr::codecs {

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
