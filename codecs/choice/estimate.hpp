// SPDX-License-Identifier: BSD-3-Clause
// Estimates how many bits an element of a variable would take under each kind of coding, from some
// hundred points. No codec runs: predictors are evaluated at the points, and the entropy of the
// residuals is computed. This takes microseconds. The estimates are accurate within a percent or
// two for codings that are modelled (order-0 codes). For repeats over long distances they are only
// guesses.
#pragma once

#include <array>
#include <cstdint>

#include "codecs/base/bytes.hpp"
#include "codecs/base/layout.hpp"

namespace mcr::codecs {

/// Kinds of coding. `split`: the last dimension (2 to 16 wide) is first made the slowest.
/// Differences are those of the order-preserving integers.
enum class Model : std::uint8_t {
  planes,     ///< each byte plane has its own order-0 code
  top_bits,   ///< a symbol for sign, exponent, first mantissa bits, and for each frequent value
  predicted,  ///< Lorenzo's residuals: bit length and top bits coded, other bits raw
  planes_predicted,  ///< these residuals in planes
  fitted,    ///< residuals of a fitted stencil: not estimated, but set a little below `predicted`
  contexts,  ///< as `predicted`, but symbols are coded in the context of earlier symbols
  split_predicted,
  split_planes_predicted,
  split_fitted,
  split_contexts,
  split_planes,  ///< as `planes`, for each member of a structure separately
  dictionary,    ///< indices in a table of few distinct numbers
  records,       ///< columns of records: not estimated here
  words,         ///< repeated runs of words by Lempel-Ziv, others raw
  words_delta,   ///< integers: repeated runs of differences by Lempel-Ziv, others by planes
  constant,
  count
};

struct Estimates {
  /// Bits per element, by model; a huge number: not possible.
  std::array<double, static_cast<std::size_t>(Model::count)> bits{};
  double repeated = 0;      ///< share of words that occurred before
  double frequent = 0;      ///< share of numbers that are among the few very frequent ones
  double frequent_mix = 0;  ///< bits per frequent number that say which one it is

  [[nodiscard]] double of(Model model) const { return bits[static_cast<std::size_t>(model)]; }
};

/// Samples about `points` elements (at most 4096) of `raw`, which is exactly `layout.raw_bytes()`
/// long and not empty. Numbers have 1, 2, 4 or 8 bytes and the layout's byte order. For elements
/// that are not numbers, only the models planes (up to 64 bytes), words and constant are estimated.
Estimates estimate(const Layout& layout, ByteSpan raw, std::size_t points);

}  // namespace mcr::codecs
