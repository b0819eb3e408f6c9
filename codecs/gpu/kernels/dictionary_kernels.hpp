// SPDX-License-Identifier: BSD-3-Clause
// Finds the distinct words of a frame, and replaces words by their numbers in a sorted table.
#pragma once

#include "codecs/gpu/kernels/rest_kernels.hpp"
#include "codecs/gpu/kernels/word_kernels.hpp"

namespace mcr::codecs::gpu {

/// Marks an empty slot. A word of this value is noted apart.
inline constexpr std::uint64_t no_word = ~std::uint64_t{0};

struct DistinctState {
  std::uint32_t count;        ///< distinct words in slots
  std::uint32_t has_no_word;  ///< 1: no_word is one of the words
  std::uint32_t listed;
  std::uint32_t overflow;  ///< 1: there are more words than the limit
};

/// 0: words; 1: their count; 2: bytes of a word; 3: slots, all no_word; 4: their number, a power of two and
/// more than the limit; 5: DistinctState, all zeros; 6: the limit.
MCR_DEVICE void run_distinct_words(const Block& block, NoShared&, const KernelArguments& a) {
  auto* const slots = pointer<std::uint64_t>(a, 3);
  auto& state = *pointer<DistinctState>(a, 5);
  const std::uint64_t mask = a.words[4] - 1;
  const auto insert = [&](std::uint64_t word) {
    if (word == no_word) {
      atomic_or(&state.has_no_word, 1);
      return;
    }
    const std::uint64_t first = word * 0x9e3779b97f4a7c15U >> 32;
    for (std::uint64_t k = 0; k <= mask; ++k) {
      std::uint64_t* const slot = slots + ((first + k) & mask);
      std::uint64_t there = atomic_load(slot);
      if (there == no_word) there = atomic_replace(slot, no_word, word);
      if (there == word) return;
      if (there != no_word) continue;
      if (atomic_add(&state.count, 1) >= a.words[6]) atomic_or(&state.overflow, 1);
      return;
    }
    atomic_or(&state.overflow, 1);  // more words than slots
  };
  for_word(a.words[2], [&]<typename Word>(Word) {
    const auto* const words = pointer<const Word>(a, 0);
    for_all(block, a.words[1], [&](std::uint64_t i) {
      if ((i == 0 || words[i] != words[i - 1]) && atomic_load(&state.overflow) == 0)
        insert(words[i]);
    });
  });
}

/// 0: slots; 1: their number; 2: DistinctState; 3: the words to write, in any order.
MCR_DEVICE void run_list_words(const Block& block, NoShared&, const KernelArguments& a) {
  const auto* const slots = pointer<const std::uint64_t>(a, 0);
  auto& state = *pointer<DistinctState>(a, 2);
  for_all(block, a.words[1], [&](std::uint64_t i) {
    if (slots[i] == no_word) return;
    pointer<std::uint64_t>(a, 3)[atomic_add(&state.listed, 1)] = slots[i];
  });
}

/// Writes the numbers of words, or the differences of numbers, as `Number`.
template <typename Number, typename Word, typename NumberOf>
MCR_DEVICE void write_numbers(const Block& block, const Word* words, std::uint64_t count,
                              const NumberOf& number_of, Number* plain, Number* differences) {
  for_all(block, count, [&](std::uint64_t i) {
    const auto number = static_cast<Number>(number_of(words[i]));
    const auto before = i == 0 ? Number{0} : static_cast<Number>(number_of(words[i - 1]));
    plain[i] = number;
    differences[i] = zigzag(static_cast<Number>(number - before));
  });
}

/// 0: words; 1: their count; 2: bytes of a word; 3: the distinct words as 64 bits, in ascending order; 4: their
/// number; 5: not zero if they are IEEE numbers; 6: each word's number to write; 7: the zigzagged differences of
/// the numbers to write; both have one byte each if there are at most 256 words, else two.
MCR_DEVICE void run_word_numbers(const Block& block, NoShared&, const KernelArguments& a) {
  const auto* const table = pointer<const std::uint64_t>(a, 3);
  for_word(a.words[2], [&]<typename Word>(Word) {
    const auto order = [&](std::uint64_t word) {
      return a.words[5] != 0 ? ordered_from_float(static_cast<Word>(word))
                             : static_cast<Word>(word);
    };
    const auto number_of = [&](Word word) {
      std::uint64_t first = 0;
      for (std::uint64_t count = a.words[4]; count > 1;) {
        const std::uint64_t half = count / 2;
        const bool later = order(table[first + half]) <= order(word);
        first += later ? half : 0;
        count = later ? count - half : half;
      }
      return first;
    };
    const auto* const words = pointer<const Word>(a, 0);
    if (a.words[4] <= 256) {
      write_numbers(block, words, a.words[1], number_of, pointer<std::uint8_t>(a, 6),
                    pointer<std::uint8_t>(a, 7));
    } else {
      write_numbers(block, words, a.words[1], number_of, pointer<std::uint16_t>(a, 6),
                    pointer<std::uint16_t>(a, 7));
    }
  });
}

/// 0: numbers; 1: their count; 2: bytes of a number; 3: bytes of a word; 4: the table of words; 5: how many
/// it has; 6: words to write; 7: a number that becomes 1 if a number is not in the table.
MCR_DEVICE void run_numbered_words(const Block& block, NoShared&, const KernelArguments& a) {
  for_word(a.words[3], [&]<typename Word>(Word) {
    const auto* const table = pointer<const Word>(a, 4);
    auto* const words = pointer<Word>(a, 6);
    for_all(block, a.words[1], [&](std::uint64_t i) {
      const std::uint64_t number = a.words[2] == 1 ? pointer<const std::uint8_t>(a, 0)[i]
                                                   : pointer<const std::uint16_t>(a, 0)[i];
      if (number >= a.words[5]) atomic_or(pointer<std::uint32_t>(a, 7), 1);
      words[i] = number < a.words[5] ? table[number] : Word{0};
    });
  });
}

}  // namespace mcr::codecs::gpu

MCR_KERNEL(mcr_distinct_words, run_distinct_words, mcr::codecs::gpu::NoShared)
MCR_KERNEL(mcr_list_words, run_list_words, mcr::codecs::gpu::NoShared)
MCR_KERNEL(mcr_word_numbers, run_word_numbers, mcr::codecs::gpu::NoShared)
MCR_KERNEL(mcr_numbered_words, run_numbered_words, mcr::codecs::gpu::NoShared)
