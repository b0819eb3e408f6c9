// SPDX-License-Identifier: BSD-3-Clause
// Measures how much of the data repeats earlier data, because string matchers exploit repeats.
#pragma once

#include "codecs/base/bytes.hpp"

namespace mcr::codecs {

/// Returns the share of words that occurred before, exactly or nearly, at any distance. Very
/// frequent words do not count. A word's bits decide whether it is sampled, so that either all
/// equal words are sampled or none of them. `word_bytes`: 1, 2, 4 or 8.
double share_seen_before(std::size_t word_bytes, ByteSpan raw, std::size_t points);

/// How much of a window a string matcher would find as repeats.
struct Repeats {
  double share = 0;  ///< share of words that occurred before
  /// Share of words at which a new match begins, because they do not continue the last match.
  double starts = 0;
};

/// Looks at a window from the middle of the data, word by word, or at the differences between
/// neighbouring words.
Repeats repeats_in(std::size_t word_bytes, ByteSpan raw, bool differences);

}  // namespace mcr::codecs
