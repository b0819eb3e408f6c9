// SPDX-License-Identifier: BSD-3-Clause
// Codes a brick word by word. Each word is coded as its difference from the cheapest of several
// predictions. So one word may use a formula and the next word a reference. See spec.md.
//
// The caller (solid/) knows where predictions come from; this kernel gets them as arrays. There are
// two codings. `fast` makes one symbol for each word, and a general coder packs the symbols.
// `strong` codes binary decisions under adaptive models; its result is much smaller if predictions
// are good.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "codecs/base/bytes.hpp"
#include "codecs/base/scratch.hpp"
#include "codecs/word_candidates/prediction.hpp"

namespace mcr::codecs::words {

enum class Coding : std::uint8_t { fast = 0, strong = 1 };

/// Returns the most predictions that a brick may have. With `fast`, more would not fit into a
/// symbol's byte.
constexpr std::size_t max_predictions(Coding coding) { return coding == Coding::fast ? 3 : 6; }

/// How one brick is coded: its box, which has as many words as the brick, and 1 to
/// max_predictions() predictions.
template <typename T>
struct BrickPlan {
  Extents box{};
  std::span<const Prediction<T>> predictions;
};

/// Codes the bricks of a section, one after the other. T: std::uint32_t or std::uint64_t, in this
/// machine's byte order.
template <typename T>
class Encoder {
 public:
  virtual ~Encoder() = default;
  virtual void brick(std::span<const T> words, const BrickPlan<T>& plan) = 0;
  /// Appends all coded bricks to `out`. `level` is zstd's level for the symbols of `fast`.
  virtual Result<void> finish(int level, Scratch& scratch, Bytes& out) = 0;
};
template <typename T>
std::unique_ptr<Encoder<T>> new_encoder(Coding coding, Numbers numbers);

template <typename T>
class Decoder {
 public:
  virtual ~Decoder() = default;
  /// Fills the next brick. If `plan` is not the encoder's, gives arbitrary words or Cause::damaged.
  virtual Result<void> brick(std::span<T> words, const BrickPlan<T>& plan) = 0;
  /// Cause::damaged if bytes are missing or left over.
  virtual Result<void> end() const = 0;
};
/// `stored` are the bytes that finish() appended; the bricks have `word_count` words in all.
/// `stored` may hold arbitrary bytes, and must stay in place. The decoder uses memory of `scratch`
/// until it ends.
template <typename T>
Result<std::unique_ptr<Decoder<T>>> new_decoder(ByteSpan stored, std::uint64_t word_count,
                                                Numbers numbers, Scratch& scratch);

}  // namespace mcr::codecs::words
