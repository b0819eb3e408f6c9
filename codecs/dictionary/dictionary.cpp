// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/dictionary/dictionary.hpp"

#include <algorithm>
#include <bit>

#include "codecs/base/words.hpp"

namespace mcr::codecs {
namespace {

std::size_t slot_of(std::uint64_t word) {
  return static_cast<std::size_t>((word * 0x9e3779b97f4a7c15U) >> 32);
}

/// Maps words to numbers; the table is at most half full.
class WordTable {
 public:
  explicit WordTable(std::size_t most)
      : slots_(std::bit_ceil(2 * most + 2)), mask_(slots_.size() - 1) {}

  /// Returns the slot of `word`, or the empty slot where it belongs.
  std::size_t find(std::uint64_t word) const {
    std::size_t at = slot_of(word) & mask_;
    while (slots_[at].number != none && slots_[at].word != word) at = (at + 1) & mask_;
    return at;
  }
  [[nodiscard]] bool is_empty(std::size_t slot) const { return slots_[slot].number == none; }
  [[nodiscard]] std::uint32_t number(std::size_t slot) const { return slots_[slot].number; }
  void put(std::size_t slot, std::uint64_t word, std::uint32_t number) {
    slots_[slot] = {word, number};
  }

 private:
  static constexpr std::uint32_t none = 0xffffffff;
  struct Slot {
    std::uint64_t word = 0;
    std::uint32_t number = none;
  };
  std::vector<Slot> slots_;
  std::size_t mask_;
};

}  // namespace

std::vector<std::uint64_t> distinct_words(std::size_t size, bool floating, const std::byte* words,
                                          std::size_t count, std::size_t limit) {
  std::vector<std::uint64_t> found;
  with_word(size, [&]<typename Word>(Word) {
    WordTable table(std::min(limit, count));
    std::uint64_t last = count == 0 ? 0 : ~std::uint64_t{load<Word>(words)};
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t word = load<Word>(words + i * sizeof(Word));
      if (word == last) continue;  // skips runs, which are frequent in such data
      last = word;
      const std::size_t slot = table.find(word);
      if (!table.is_empty(slot)) continue;
      if (found.size() == limit) {
        found.clear();
        return;
      }
      table.put(slot, word, 0);
      found.push_back(word);
    }
    const auto order = [floating](std::uint64_t word) {
      return floating ? ordered_from_float(static_cast<Word>(word)) : static_cast<Word>(word);
    };
    std::sort(found.begin(), found.end(),
              [&](std::uint64_t a, std::uint64_t b) { return order(a) < order(b); });
  });
  return found;
}

void dictionary_encode(std::size_t size, const std::byte* words, std::size_t count,
                       const std::vector<std::uint64_t>& table, std::uint16_t* numbers) {
  WordTable of_word(table.size());
  for (std::size_t n = 0; n < table.size(); ++n) {
    of_word.put(of_word.find(table[n]), table[n], static_cast<std::uint32_t>(n));
  }
  with_word(size, [&]<typename Word>(Word) {
    for (std::size_t i = 0; i < count; ++i) {
      numbers[i] = static_cast<std::uint16_t>(
          of_word.number(of_word.find(load<Word>(words + i * sizeof(Word)))));
    }
  });
}

bool dictionary_decode(std::size_t size, const std::uint16_t* numbers, std::size_t count,
                       const std::byte* table, std::size_t table_count, std::byte* words) {
  return with_word(size, [&]<typename Word>(Word) {
    for (std::size_t i = 0; i < count; ++i) {
      if (numbers[i] >= table_count) return false;
      store(words + i * sizeof(Word), load<Word>(table + numbers[i] * sizeof(Word)));
    }
    return true;
  });
}

}  // namespace mcr::codecs
