// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/base/cpu.hpp"
#include "codecs/base/integers.hpp"
#include "codecs/base/words.hpp"
#include "codecs/structure_split/structure_split.hpp"

namespace mcr::codecs {
namespace {

template <typename Word>
MCR_INLINE_LOOP void encode_loop(std::size_t members, const std::byte* from, std::size_t count,
                                 std::byte* to) {
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t m = 0; m < members; ++m) {
      store(to + (m * count + i) * sizeof(Word),
            load<Word>(from + (i * members + m) * sizeof(Word)));
    }
  }
}

}  // namespace

void structure_split_encode(std::size_t size, std::size_t members, const std::byte* from,
                            std::size_t count, std::byte* to) {
  with_word(size, [&]<typename Word>(Word) {
    // Vectors of two and three components are the most frequent; constants unroll the inner loop.
    if (members == 2) return encode_loop<Word>(2, from, count, to);
    if (members == 3) return encode_loop<Word>(3, from, count, to);
    return encode_loop<Word>(members, from, count, to);
  });
}

}  // namespace mcr::codecs
