// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/entropy/rest_bits.hpp"
#include "codecs/top_bits/top_bits.hpp"

namespace mcr::codecs {
bool top_bits_decode(std::size_t size, const TopBitsTable& table, const std::uint8_t* symbols,
                     std::size_t count, ByteSpan rest, std::byte* words) {
  return with_word(size, [&]<typename Word>(Word) {
    const unsigned shift = word_bits<Word> - table.key_bits;
    entropy::RestTable<Word> rests;
    std::size_t symbol = 0;
    for (const std::uint64_t value : table.exact) rests.base[symbol++] = static_cast<Word>(value);
    for (const std::uint32_t key : table.keys) {
      rests.width[symbol] = static_cast<std::uint8_t>(shift);
      rests.base[symbol++] = static_cast<Word>(static_cast<Word>(key) << shift);
    }
    if (table.escape) {
      rests.width[255] = static_cast<std::uint8_t>(word_bits<Word>);
      rests.base[255] = 0;
    }
    return cpu::run_widest([&]() MCR_INLINE_LAMBDA {
      return entropy::unpack_rest(rests, rest, symbols, count, words);
    });
  });
}

}  // namespace mcr::codecs
