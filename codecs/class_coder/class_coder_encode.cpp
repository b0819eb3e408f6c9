// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/class_coder/class_coder.hpp"
#include "codecs/class_coder/class_symbols.hpp"

namespace mcr::codecs {
namespace {

template <typename Word>
MCR_INLINE_LOOP std::size_t encode_loop(const std::byte* words, std::size_t count,
                                        std::uint8_t* symbols, std::uint8_t* rest) {
  return entropy::pack_rest<Word>(
      words, count, [](Word word) __attribute__((always_inline)) { return classify(word); },
      symbols, rest);
}

template <typename Word>
std::size_t encode_portable(const std::byte* words, std::size_t count, std::uint8_t* symbols,
                            std::uint8_t* rest) {
  return encode_loop<Word>(words, count, symbols, rest);
}
#if MCR_HAVE_AVX2
template <typename Word>
MCR_AVX2_TARGET std::size_t encode_avx2(const std::byte* words, std::size_t count,
                                        std::uint8_t* symbols, std::uint8_t* rest) {
  return encode_loop<Word>(words, count, symbols, rest);
}
#endif

}  // namespace

std::size_t class_rest_bound(std::size_t size, std::size_t count) {
  return entropy::rest_bound(count, size);
}

std::size_t class_encode(std::size_t size, const std::byte* words, std::size_t count,
                         std::uint8_t* symbols, std::byte* rest) {
  auto* const out = reinterpret_cast<std::uint8_t*>(rest);
  return with_word(size, [&]<typename Word>(Word) {
#if MCR_HAVE_AVX2
    if (cpu::has_avx2()) return encode_avx2<Word>(words, count, symbols, out);
#endif
    return encode_portable<Word>(words, count, symbols, out);
  });
}

}  // namespace mcr::codecs
