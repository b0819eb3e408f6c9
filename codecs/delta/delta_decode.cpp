// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/base/integers.hpp"
#include "codecs/base/words.hpp"
#include "codecs/delta/delta.hpp"

namespace mcr::codecs {

void delta_decode(std::size_t size, const std::byte* from, std::size_t count, std::byte* to) {
  with_word(size, [&]<typename Word>(Word sum) {
    for (std::size_t i = 0; i < count; ++i) {
      sum = static_cast<Word>(sum + load<Word>(from + i * sizeof(Word)));
      store(to + i * sizeof(Word), sum);
    }
  });
}

}  // namespace mcr::codecs
