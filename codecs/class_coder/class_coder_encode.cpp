// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/class_coder/class_coder.hpp"
#include "codecs/class_coder/class_symbols.hpp"

namespace mcr::codecs {
std::size_t class_rest_bound(std::size_t size, std::size_t count) {
  return entropy::rest_bound(count, size);
}

std::size_t class_encode(std::size_t size, const std::byte* words, std::size_t count,
                         std::uint8_t* symbols, std::byte* rest) {
  auto* const out = reinterpret_cast<std::uint8_t*>(rest);
  return with_word(size, [&]<typename Word>(Word) {
    const auto classify_word = [](Word word) MCR_INLINE_LAMBDA { return classify(word); };
    return cpu::run_widest([&]() MCR_INLINE_LAMBDA {
      return entropy::pack_rest<Word>(words, count, classify_word, symbols, out);
    });
  });
}

}  // namespace mcr::codecs
