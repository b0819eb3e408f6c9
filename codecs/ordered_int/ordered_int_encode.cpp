// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/base/integers.hpp"
#include "codecs/base/words.hpp"
#include "codecs/ordered_int/ordered_int.hpp"

namespace mcr::codecs {

void ordered_float_encode(std::size_t size, const std::byte* from, std::size_t count,
                          std::byte* to) {
  with_word(size, [&]<typename Word>(Word) {
    for (std::size_t i = 0; i < count; ++i) {
      store(to + i * sizeof(Word), ordered_from_float(load<Word>(from + i * sizeof(Word))));
    }
  });
}

void ordered_signed(std::size_t size, const std::byte* from, std::size_t count, std::byte* to) {
  with_word(size, [&]<typename Word>(Word) {
    for (std::size_t i = 0; i < count; ++i) {
      store(to + i * sizeof(Word),
            static_cast<Word>(load<Word>(from + i * sizeof(Word)) ^ sign_bit<Word>));
    }
  });
}

}  // namespace mcr::codecs
