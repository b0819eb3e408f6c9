// SPDX-License-Identifier: BSD-3-Clause
// The parts of a payload of the codec `dictionary`: the table of words, and the elements that number
// them.
#pragma once

#include <algorithm>
#include <vector>

#include "codecs/base/bytes.hpp"
#include "codecs/base/layout.hpp"
#include "codecs/base/words.hpp"
#include "codecs/entropy/entropy.hpp"

namespace mcr::codecs {

inline constexpr std::byte plain_numbers{0};
inline constexpr std::byte differences{1};

inline bool is_floating(const ElementType& type) { return type.kind == ElementKind::floating; }

inline Layout flat_layout(const ElementType& type, std::size_t count) {
  return {type, {Shape::flat(static_cast<std::uint32_t>(count))}};
}
inline Layout numbers_layout(std::size_t table_count, std::size_t count) {
  return flat_layout({ElementKind::unsigned_integer, table_count <= 256 ? 1U : 2U, false}, count);
}

/// Returns the table's words as differences from the previous word, little-endian.
inline Bytes pack_table(const ElementType& type, const std::vector<std::uint64_t>& table) {
  Bytes packed(table.size() * type.size);
  with_word(type.size, [&]<typename Word>(Word) {
    Word before = 0;
    for (std::size_t i = 0; i < table.size(); ++i) {
      auto word = static_cast<Word>(table[i]);
      if (is_floating(type)) word = ordered_from_float(word);
      store(packed.data() + i * sizeof(Word), little_endian(static_cast<Word>(word - before)));
      before = word;
    }
  });
  return packed;
}

/// The inverse, in place; the words are then in this machine's byte order.
inline void unpack_table(const ElementType& type, MutableByteSpan table) {
  with_word(type.size, [&]<typename Word>(Word) {
    Word before = 0;
    for (std::size_t at = 0; at < table.size(); at += sizeof(Word)) {
      const auto word = static_cast<Word>(before + little_endian(load<Word>(table.data() + at)));
      store(table.data() + at, is_floating(type) ? float_from_ordered(word) : word);
      before = word;
    }
  });
}

/// The piece in the middle of `count` elements from which their size is estimated.
struct GuessedPiece {
  std::size_t first = 0;
  std::size_t count = 0;
};
inline GuessedPiece guessed_piece(std::size_t count) {
  constexpr std::size_t looked_at = 16384;
  const std::size_t taken = std::min(count, looked_at);
  return {(count - taken) / 2, taken};
}

/// Estimates the size of such a piece coded in planes of order 0.
inline std::size_t guessed_bytes_of_piece(ByteSpan piece, std::size_t bytes) {
  std::size_t sum = 0;
  std::vector<std::uint8_t> plane(piece.size() / bytes);
  for (std::size_t b = 0; b < bytes; ++b) {
    for (std::size_t i = 0; i < plane.size(); ++i) {
      plane[i] = std::to_integer<std::uint8_t>(piece[i * bytes + b]);
    }
    sum += entropy::estimate_block(entropy::count_symbols(plane), entropy::Method::smallest);
  }
  return sum;
}
/// Estimates the size of `elements` in proportion.
inline std::size_t guessed_bytes(ByteSpan elements, std::size_t bytes) {
  const GuessedPiece piece = guessed_piece(elements.size() / bytes);
  return guessed_bytes_of_piece(elements.subspan(piece.first * bytes, piece.count * bytes), bytes);
}

}  // namespace mcr::codecs
