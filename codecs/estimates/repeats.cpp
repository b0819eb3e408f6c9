// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/estimates/repeats.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "codecs/base/cpu.hpp"
#include "codecs/base/integers.hpp"
#include "codecs/base/words.hpp"
#include "codecs/estimates/point_entropy.hpp"

namespace mcr::codecs {
namespace {

/// Returns a number without its last bits, because a string matcher also gains from nearly equal
/// numbers.
template <typename Word>
MCR_INLINE_LOOP Word upper_bits(Word word) {
  return static_cast<Word>(word >> (word_bits<Word> / 4));
}

/// True if the word belongs to the sample. Only the word's bits decide, so that equal words are
/// treated alike.
template <typename Word>
MCR_INLINE_LOOP bool content_says(Word word, std::uint32_t mask) {
  auto folded = static_cast<std::uint32_t>(word);
  if constexpr (sizeof(Word) == 8) folded ^= static_cast<std::uint32_t>(word >> 32) * 0x85ebca6bU;
  return ((folded * 0x9e3779b1U) & mask) == mask;  // never a zero
}
/// Returns the first block of sixteen words from `i` on with a sampled word; `count` if there is
/// none.
template <typename Word>
MCR_INLINE_LOOP std::size_t next_block_loop(const std::byte* words, std::size_t i,
                                            std::size_t count, std::uint32_t mask) {
  for (; i + 16 <= count; i += 16) {
    std::uint32_t any = 0;
    for (std::size_t k = 0; k < 16; ++k) {
      any |= content_says(upper_bits(load<Word>(words + (i + k) * sizeof(Word))), mask) ? 1U : 0U;
    }
    if (any != 0) return i;
  }
  return count;
}
template <typename Word>
std::size_t next_block(const std::byte* words, std::size_t i, std::size_t count,
                       std::uint32_t mask) {
  return cpu::run_widest(
      [=]() MCR_INLINE_LAMBDA { return next_block_loop<Word>(words, i, count, mask); });
}

template <typename Word>
double seen_before(ByteSpan raw, std::size_t points) {
  constexpr std::uint32_t frequent = 32;
  // Samples a whole frame, because ghost layers and symmetries repeat at any distance.
  const std::size_t count = std::min<std::size_t>(raw.size() / sizeof(Word), 131072);
  std::uint32_t one_of = 16;
  while (count / one_of > points) one_of *= 2;
  const std::uint32_t mask = (one_of - 1) << 20;
  std::vector<std::uint64_t> kept;
  kept.reserve(2 * points);
  for (std::size_t i = 0; (i = next_block<Word>(raw.data(), i, count, mask)) < count; i += 16) {
    for (std::size_t k = 0; k < 16; ++k) {
      const auto word = upper_bits(load<Word>(raw.data() + (i + k) * sizeof(Word)));
      if (content_says(word, mask)) kept.push_back(word);
    }
  }
  KeyCounts counts(kept.size());
  for (const std::uint64_t word : kept) counts.add(word);
  std::size_t distinct = 0;
  std::size_t all = 0;
  for (const KeyCounts::Entry& entry : counts.entries()) {
    if (entry.count == 0 || entry.count > frequent) continue;
    ++distinct;
    all += entry.count;
  }
  return all == 0 ? 0 : 1 - static_cast<double>(distinct) / static_cast<double>(all);
}

template <typename Word>
Repeats repeated(ByteSpan raw, bool differences) {
  const std::size_t count = raw.size() / sizeof(Word);
  const std::size_t window =
      std::clamp<std::size_t>(count / 8, std::min<std::size_t>(count, 256), 4096);
  if (window < 2) return {};
  struct Seen {
    std::uint32_t tag;
    std::uint32_t place;  // 0: not seen
  };
  const std::size_t mask = std::bit_ceil(2 * window) - 1;
  std::vector<Seen> table(mask + 1);
  const std::byte* from = raw.data() + (count - window) / 2 * sizeof(Word);
  std::uint32_t last_place = 0;
  std::size_t share = 0;
  std::size_t starts = 0;
  auto previous = load<Word>(from);
  for (std::uint32_t i = 1; i < window; ++i) {
    const auto word = load<Word>(from + i * sizeof(Word));
    std::uint64_t value = differences ? static_cast<Word>(word - previous) : word;
    // A small word alone proves little: a match of Lempel-Ziv has at least four bytes.
    if constexpr (sizeof(Word) < 4) value = value << 16 | previous;
    previous = word;
    const std::uint64_t hash = (value + 1) * 0x9e3779b97f4a7c15U;
    const auto tag = static_cast<std::uint32_t>(hash);
    std::size_t at = hash >> 40;
    while (table[at & mask].place != 0 && table[at & mask].tag != tag) ++at;
    Seen& seen = table[at & mask];
    if (seen.place != 0) {
      ++share;
      if (last_place == 0 || seen.place != last_place + 1) ++starts;
    }
    last_place = seen.place;
    seen = {tag, i};
  }
  const auto n = static_cast<double>(window - 1);
  return {static_cast<double>(share) / n, static_cast<double>(starts) / n};
}

}  // namespace

double share_seen_before(std::size_t word_bytes, ByteSpan raw, std::size_t points) {
  return with_word(word_bytes, [&]<typename Word>(Word) { return seen_before<Word>(raw, points); });
}

Repeats repeats_in(std::size_t word_bytes, ByteSpan raw, bool differences) {
  return with_word(word_bytes,
                   [&]<typename Word>(Word) { return repeated<Word>(raw, differences); });
}

}  // namespace mcr::codecs
