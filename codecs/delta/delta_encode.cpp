// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/base/integers.hpp"
#include "codecs/base/words.hpp"
#include "codecs/delta/delta.hpp"

namespace mcr::codecs {

void delta_encode(std::size_t size, const std::byte* from, std::size_t count, std::byte* to) {
  with_word(size, [&]<typename Word>(Word) {
    if (count == 0) return;
    store(to, load<Word>(from));
    for (std::size_t i = 1; i < count; ++i) {
      const auto now = load<Word>(from + i * sizeof(Word));
      const auto before = load<Word>(from + (i - 1) * sizeof(Word));
      store(to + i * sizeof(Word), static_cast<Word>(now - before));
    }
  });
}

}  // namespace mcr::codecs
