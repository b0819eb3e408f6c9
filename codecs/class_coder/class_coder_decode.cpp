// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/class_coder/class_coder.hpp"
#include "codecs/class_coder/class_symbols.hpp"

namespace mcr::codecs {
namespace {

template <typename Word>
bool decode_portable(const entropy::RestTable<Word>& table, ByteSpan rest,
                     const std::uint8_t* symbols, std::size_t count, std::byte* words) {
  return entropy::unpack_rest(table, rest, symbols, count, words);
}
#if MCR_HAVE_AVX2
template <typename Word>
MCR_AVX2_TARGET bool decode_avx2(const entropy::RestTable<Word>& table, ByteSpan rest,
                                 const std::uint8_t* symbols, std::size_t count, std::byte* words) {
  return entropy::unpack_rest(table, rest, symbols, count, words);
}
#endif

}  // namespace

bool class_decode(std::size_t size, const std::uint8_t* symbols, std::size_t count, ByteSpan rest,
                  std::byte* words) {
  return with_word(size, [&]<typename Word>(Word) {
    const auto table = class_table<Word>();
#if MCR_HAVE_AVX2
    if (cpu::has_avx2()) return decode_avx2(table, rest, symbols, count, words);
#endif
    return decode_portable(table, rest, symbols, count, words);
  });
}

}  // namespace mcr::codecs
