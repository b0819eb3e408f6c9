// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/class_coder/class_coder.hpp"
#include "codecs/class_coder/class_symbols.hpp"

namespace mcr::codecs {
bool class_decode(std::size_t size, const std::uint8_t* symbols, std::size_t count, ByteSpan rest,
                  std::byte* words) {
  return with_word(size, [&]<typename Word>(Word) {
    const auto table = class_table<Word>();
    return cpu::run_widest([&]() MCR_INLINE_LAMBDA {
      return entropy::unpack_rest(table, rest, symbols, count, words);
    });
  });
}

}  // namespace mcr::codecs
