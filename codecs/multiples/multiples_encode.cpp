// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/multiples/multiples_rule.hpp"

namespace mcr::codecs {

void multiples_encode(const Multiples& multiples, const ElementType& type, const std::byte* from,
                      std::size_t count, std::byte* to) {
  with_rule(multiples, type, [&](const auto& rule) {
    using Word = decltype(rule.encode(0));
    for (std::size_t i = 0; i < count; ++i) {
      store(to + i * sizeof(Word), rule.encode(load<Word>(from + i * sizeof(Word))));
    }
  });
}

}  // namespace mcr::codecs
