// SPDX-License-Identifier: BSD-3-Clause
// Stores words as symbols and rest bits, as class_coder and top_bits do. A symbol stands for a
// word's upper bits, and tells how many lower bits the word has; it is coded elsewhere. The lower
// bits, called the rest, are stored unchanged. The encoder classifies and packs in one pass; the
// decoder combines `base | bits`. See spec.md, "Rest bits".
//
// The loops are templates, because each codec classifies words in its own way. They are
// instantiated in each codec's files, portable and for AVX2 (BMI2).
#pragma once

#include <algorithm>
#include <cstdint>

#include "codecs/base/bytes.hpp"
#include "codecs/base/cpu.hpp"
#include "codecs/base/words.hpp"
#include "codecs/entropy/block_format.hpp"

namespace mcr::codecs::entropy {

/// By symbol: the rest bits that belong to it.
template <typename Word>
struct RestTable {
  std::uint8_t width[256] = {};  ///< number of rest bits
  Word base[256] = {};           ///< the word without its rest; the lowest `width` bits are zero
};

/// Returns the size of the directory before the packed bits, which has each segment's length as
/// u32.
constexpr std::size_t rest_directory_bytes(std::size_t count) { return segments_of(count) * 4; }

/// Returns the most bytes that rest bits take, working space included.
constexpr std::size_t rest_bound(std::size_t count, std::size_t word_bytes) {
  return rest_directory_bytes(count) + count * word_bytes + segments_of(count) * 8 + 16;
}

namespace detail {

/// Packs one segment; returns the end of its bytes. `classify(word)` returns {symbol, width}.
template <typename Word, typename Classify>
MCR_INLINE_LOOP std::uint8_t* pack_segment(const std::byte* words, std::size_t count,
                                           const Classify& classify, std::uint8_t* symbols,
                                           std::uint8_t* out) {
  std::uint64_t held = 0;  // bits that do not yet fill a byte
  unsigned used = 0;       // how many bits are held, below 8
  for (std::size_t i = 0; i < count; ++i) {
    const auto word = load<Word>(words + i * sizeof(Word));
    const auto [symbol, width] = classify(word);
    symbols[i] = static_cast<std::uint8_t>(symbol);
    const std::uint64_t rest =
        width == 64 ? std::uint64_t{word} : std::uint64_t{word} & ((std::uint64_t{1} << width) - 1);
    const std::uint64_t low = held | rest << used;
    const unsigned total = used + width;
    store(out, little_endian(low));
    if constexpr (sizeof(Word) == 8) {
      const std::uint64_t high = (rest >> 1) >> (63 - used);
      held = total >= 64 ? high : low >> (total & 56);
    } else {
      held = low >> (total & 56);
    }
    out += total >> 3;
    used = total & 7;
  }
  *out = static_cast<std::uint8_t>(held);
  return out + (used != 0 ? 1 : 0);
}

/// Unpacks one segment; returns false if it does not have exactly the bytes that the symbols
/// require.
template <typename Word>
MCR_INLINE_LOOP bool unpack_segment(const RestTable<Word>& table, const std::uint8_t* at,
                                    const std::uint8_t* end, const std::uint8_t* symbols,
                                    std::size_t count, std::byte* words) {
  constexpr std::size_t batch = 16;
  std::uint64_t position = 0;  // in bits
  std::size_t i = 0;
  const auto unpack_one = [&](std::uint64_t bits, std::size_t index) {
    const std::uint8_t symbol = symbols[index];
    const unsigned width = table.width[symbol];
    const std::uint64_t mask = width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
    store(words + index * sizeof(Word), static_cast<Word>(table.base[symbol] | (bits & mask)));
    position += width;
  };
  const auto size = static_cast<std::uint64_t>(end - at);
  // A batch advances by at most batch * sizeof(Word) bytes, and its last load reads nine bytes.
  while (i + batch <= count && (position >> 3) + batch * sizeof(Word) + 9 <= size) {
    for (std::size_t k = 0; k < batch; ++k, ++i) {
      const std::uint8_t* const from = at + (position >> 3);
      const unsigned shift = position & 7;
      std::uint64_t bits = little_endian(load<std::uint64_t>(from)) >> shift;
      if constexpr (sizeof(Word) == 8) {
        bits |= (std::uint64_t{from[8]} << 1) << (63 - shift);
      }
      unpack_one(bits, i);
    }
  }
  for (; i < count; ++i) {
    if ((position >> 3) > size) return false;
    const std::uint8_t* const from = at + (position >> 3);
    const unsigned shift = position & 7;
    std::uint64_t bits = load_bits(from, end) >> shift;
    if (end - from > 8) bits |= (std::uint64_t{from[8]} << 1) << (63 - shift);
    unpack_one(bits, i);
  }
  return (position + 7) >> 3 == size;
}

}  // namespace detail

/// Writes the symbols of `count` words, and writes the directory and the rest bits to `out`, which
/// has room for rest_bound() bytes. Returns how many bytes of `out` were written.
template <typename Word, typename Classify>
MCR_INLINE_LOOP std::size_t pack_rest(const std::byte* words, std::size_t count,
                                      const Classify& classify, std::uint8_t* symbols,
                                      std::uint8_t* out) {
  std::uint8_t* directory = out;
  std::uint8_t* at = out + rest_directory_bytes(count);
  for (std::size_t first = 0; first < count; first += segment_symbols) {
    std::uint8_t* const end = detail::pack_segment<Word>(words + first * sizeof(Word),
                                                         std::min(segment_symbols, count - first),
                                                         classify, symbols + first, at);
    store(directory, little_endian(static_cast<std::uint32_t>(end - at)));
    directory += 4;
    at = end;
  }
  return static_cast<std::size_t>(at - out);
}

/// The inverse; returns false if `stored` is damaged. Never reads or writes outside the spans.
template <typename Word>
MCR_INLINE_LOOP bool unpack_rest(const RestTable<Word>& table, ByteSpan stored,
                                 const std::uint8_t* symbols, std::size_t count, std::byte* words) {
  if (stored.size() / 4 < segments_of(count)) return false;
  const auto* directory = reinterpret_cast<const std::uint8_t*>(stored.data());
  const std::uint8_t* at = directory + rest_directory_bytes(count);
  const std::uint8_t* const end = directory + stored.size();
  for (std::size_t first = 0; first < count; first += segment_symbols) {
    const std::uint32_t length = little_endian(load<std::uint32_t>(directory));
    directory += 4;
    if (static_cast<std::size_t>(end - at) < length) return false;
    if (!detail::unpack_segment(table, at, at + length, symbols + first,
                                std::min(segment_symbols, count - first),
                                words + first * sizeof(Word))) {
      return false;
    }
    at += length;
  }
  return at == end;
}

}  // namespace mcr::codecs::entropy
