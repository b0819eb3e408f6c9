// SPDX-License-Identifier: BSD-3-Clause
// Codes a brick word by word, each as a difference from the cheapest of several predictions, so
// that one word may be the formula's, the next a reference's and the next one new. spec.md.
//
// The caller knows where predictions come from (solid/); this kernel gets them as arrays. Two
// codings of the same decisions: `fast` codes them as one symbol a word, which a general coder
// packs; `strong` as binary decisions under adaptive models, much smaller where predictions are
// good.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "codecs/base/bytes.hpp"
#include "codecs/base/scratch.hpp"
#include "codecs/word_candidates/differences.hpp"

namespace mcr::codecs::words {

/// Predictions for all words of a brick.
template <typename T>
struct Prediction {
  enum class Kind : std::uint8_t {
    array,     ///< word i is predicted by array[i]
    partner,   ///< by the brick's own word partner[i] where that is below i, else by the previous
               ///< word
    previous,  ///< by the word before it; the first one by 0
  };
  Kind kind = Kind::previous;
  const T* array = nullptr;
  const std::uint32_t* partner = nullptr;
};

enum class Coding : std::uint8_t { fast = 0, strong = 1 };

/// Most predictions that a brick may have: the fast coding's symbols fill a byte.
inline constexpr std::size_t max_predictions = 3;

/// T: std::uint32_t or std::uint64_t, in this machine's byte order.
template <typename T>
class Encoder {
 public:
  Encoder(Coding coding, Numbers numbers, Scratch& scratch);
  /// The next brick; 1 to max_predictions predictions.
  void brick(std::span<const T> words, std::span<const Prediction<T>> predictions);
  /// Appends everything that was coded to `out`.
  Result<void> finish(int level, Bytes& out);

 private:
  void raw(std::uint64_t bits, unsigned count);

  Coding coding_;
  Numbers numbers_;
  Scratch& scratch_;
  std::vector<std::uint8_t> symbols_;
  Bytes raw_;
  std::uint64_t raw_held_ = 0;
  unsigned raw_fill_ = 0;
};

template <typename T>
class Decoder {
 public:
  Decoder(Numbers numbers, Scratch& scratch) : numbers_(numbers), scratch_(scratch) {}
  /// `stored` is what finish() appended; the bricks hold `word_count` words together. It may be
  /// anything.
  Result<void> begin(ByteSpan stored, std::uint64_t word_count);
  Result<void> brick(std::span<T> words, std::span<const Prediction<T>> predictions);
  /// Cause::damaged where something is left over.
  Result<void> end() const;

 private:
  Numbers numbers_;
  Scratch& scratch_;
  std::vector<std::uint8_t> symbols_;
  std::size_t next_symbol_ = 0;
  ByteSpan raw_;
  std::uint64_t raw_bit_ = 0;
};

}  // namespace mcr::codecs::words
