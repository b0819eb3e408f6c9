// SPDX-License-Identifier: BSD-3-Clause
// The predictor of a brick, its form as one byte, and its choice by sampling.
#pragma once

#include <optional>

#include "codecs/base/bytes.hpp"
#include "codecs/base/layout.hpp"
#include "codecs/lorenzo/lorenzo.hpp"

namespace mcr::codecs {

struct Predictor {
  std::uint8_t dimensions = 3;  ///< 0 to 3; a brick of lower rank is predicted by its rank
  /// Predicts in floating point; used only with two or more dimensions, or an order above 1.
  bool floating = false;
  /// A flat brick of k*k*k elements is taken for a cube, or one of k*k for a square.
  bool cube = false;
  std::uint8_t order = 1;  ///< 1 to 4 in one dimension; 1 or 2 in two and three

  [[nodiscard]] std::uint8_t byte() const {
    return static_cast<std::uint8_t>(dimensions | (floating ? 4U : 0U) | (cube ? 8U : 0U) |
                                     ((order - 1U) << 4));
  }
  /// Returns the predictor that byte() wrote as `byte`; nothing if no predictor has that byte.
  static std::optional<Predictor> from_byte(std::uint8_t byte);
  bool operator==(const Predictor&) const = default;
};

/// Returns the predictor that is probably best for data of this type.
Predictor default_predictor(const ElementType& type);

/// A brick as its predictor sees it: the box, the remaining dimensions, and whether the prediction
/// is in floating point. Floating point needs elements of 4 or 8 bytes, and at least two dimensions
/// or an order above 1.
struct BrickView {
  LorenzoBox box;
  int dimensions = 0;
  bool floating = false;
  int order = 1;
};
BrickView view_of(const Shape& shape, const ElementType& type, const Predictor& predictor);

/// Returns the parameters of the codec `lorenzo` that suit `raw` best: one predictor for all
/// bricks, or one for each brick if that saves more than it costs. Samples at most some hundred
/// numbers per brick. Numbers must be in this machine's byte order.
Bytes choose_predictors(const Layout& layout, ByteSpan raw);

/// Where the words of a brick are: `stride` bytes apart.
struct BrickWords {
  const std::byte* first = nullptr;
  std::size_t stride = 0;

  template <typename Word>
  [[nodiscard]] Word get(std::size_t index) const {
    return load<Word>(first + index * stride);
  }
};
/// The same for bricks that lie anywhere.
Bytes choose_predictors(const Layout& layout, std::span<const BrickWords> words);

}  // namespace mcr::codecs
