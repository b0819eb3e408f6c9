// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/base/integers.hpp"
#include "codecs/base/words.hpp"
#include "codecs/zigzag/zigzag.hpp"

namespace mcr::codecs {

void zigzag_decode(std::size_t size, const std::byte* from, std::size_t count, std::byte* to) {
  with_word(size, [&]<typename Word>(Word) {
    for (std::size_t i = 0; i < count; ++i) {
      store(to + i * sizeof(Word), unzigzag(load<Word>(from + i * sizeof(Word))));
    }
  });
}

}  // namespace mcr::codecs
