// SPDX-License-Identifier: BSD-3-Clause
// Transforms of single words, and changes of the order of words and bytes.
#pragma once

#include "codecs/base/words.hpp"
#include "codecs/gpu/kernels/block.hpp"

namespace mcr::codecs::gpu {

/// Kernels without shared memory have this.
struct NoShared {};

/// What mcr_words does with each word.
enum class WordStep : std::uint64_t {
  ordered_from_float,
  float_from_ordered,
  flip_sign,
  zigzag,
  unzigzag,
  difference,  ///< to the word before it; the first one stays
};

template <typename Word>
MCR_DEVICE void step_words(const Block& block, WordStep how, const Word* from, std::uint64_t count,
                           Word* to) {
  for_all(block, count, [&](std::uint64_t i) {
    Word word = from[i];
    switch (how) {
      case WordStep::ordered_from_float:
        word = ordered_from_float(word);
        break;
      case WordStep::float_from_ordered:
        word = float_from_ordered(word);
        break;
      case WordStep::flip_sign:
        word = static_cast<Word>(word ^ sign_bit<Word>);
        break;
      case WordStep::zigzag:
        word = zigzag(word);
        break;
      case WordStep::unzigzag:
        word = unzigzag(word);
        break;
      case WordStep::difference:
        if (i != 0) word = static_cast<Word>(word - from[i - 1]);
        break;
    }
    to[i] = word;
  });
}

/// Calls `call(Word{})` with the unsigned type of `size` bytes: 1, 2, 4 or 8.
template <typename Call>
MCR_DEVICE void for_word(std::uint64_t size, const Call& call) {
  if (size == 8) return call(std::uint64_t{});
  if (size == 4) return call(std::uint32_t{});
  if (size == 2) return call(std::uint16_t{});
  call(std::uint8_t{});
}

/// 0: words to read; 1: words to write, elsewhere; 2: their count; 3: bytes of a word; 4: WordStep.
MCR_DEVICE void run_words(const Block& block, NoShared&, const KernelArguments& a) {
  for_word(a.words[3], [&]<typename Word>(Word) {
    step_words(block, static_cast<WordStep>(a.words[4]), pointer<const Word>(a, 0), a.words[2],
               pointer<Word>(a, 1));
  });
}

/// Words that are split together: `structures` structures of `members` words each.
struct SplitBrick {
  std::uint64_t begin;  ///< number of the brick's first word
  std::uint64_t structures;
  std::uint64_t members;
};

/// Returns the last of `count` bricks, sorted by `begin`, that begins at or before `index`.
template <typename Brick>
MCR_DEVICE const Brick& brick_of(const Brick* bricks, std::uint64_t count, std::uint64_t index) {
  std::uint64_t first = 0;
  while (count > 1) {
    const std::uint64_t half = count / 2;
    const bool later = bricks[first + half].begin <= index;
    first += later ? half : 0;
    count = later ? count - half : half;
  }
  return bricks[first];
}

template <typename Word>
MCR_DEVICE void split_words(const Block& block, const SplitBrick* bricks, std::uint64_t brick_count,
                            const Word* from, std::uint64_t count, Word* to, bool join) {
  for_all(block, count, [&](std::uint64_t i) {
    const SplitBrick& brick = brick_of(bricks, brick_count, i);
    const std::uint64_t at = i - brick.begin;  // in the split form
    const std::uint64_t member = at / brick.structures;
    const std::uint64_t structure = at % brick.structures;
    const std::uint64_t mixed = brick.begin + structure * brick.members + member;
    if (join) {
      to[mixed] = from[i];
    } else {
      to[i] = from[mixed];
    }
  });
}

/// 0: words to read; 1: words to write, elsewhere; 2: their count; 3: bytes of a word; 4: SplitBricks,
/// none of them empty; 5: their count; 6: not zero to join.
MCR_DEVICE void run_split(const Block& block, NoShared&, const KernelArguments& a) {
  for_word(a.words[3], [&]<typename Word>(Word) {
    split_words(block, pointer<const SplitBrick>(a, 4), a.words[5], pointer<const Word>(a, 0),
                a.words[2], pointer<Word>(a, 1), a.words[6] != 0);
  });
}

/// 0: bytes to read; 1: bytes to write, elsewhere; 2: bytes; 3: bytes of an element; 4: not zero for the
/// inverse. Bytes after the last whole element stay where they are.
MCR_DEVICE void run_transpose(const Block& block, NoShared&, const KernelArguments& a) {
  const auto* const from = pointer<const std::uint8_t>(a, 0);
  auto* const to = pointer<std::uint8_t>(a, 1);
  const std::uint64_t size = a.words[3];
  const std::uint64_t count = a.words[2] / size;
  for_all(block, a.words[2], [&](std::uint64_t i) {
    const std::uint64_t mixed = i < count * size ? i % count * size + i / count : i;
    if (a.words[4] != 0) {
      to[mixed] = from[i];
    } else {
      to[i] = from[mixed];
    }
  });
}

}  // namespace mcr::codecs::gpu

MCR_KERNEL(mcr_words, run_words, mcr::codecs::gpu::NoShared)
MCR_KERNEL(mcr_split, run_split, mcr::codecs::gpu::NoShared)
MCR_KERNEL(mcr_transpose, run_transpose, mcr::codecs::gpu::NoShared)
