// SPDX-License-Identifier: BSD-3-Clause
// How much of the data repeats earlier data, which is what string matchers exploit.
#pragma once

#include "codecs/base/bytes.hpp"

namespace mcr::codecs {

/// Returns the share of words that occurred before, at least nearly, at any distance, not counting
/// the very frequent ones. The content of words decides which of them are sampled, so that equal
/// words are sampled alike. `word_bytes`: 1, 2, 4 or 8.
double share_seen_before(std::size_t word_bytes, ByteSpan raw, std::size_t points);

/// How much of a window a string matcher would find again.
struct Repeats {
  double share = 0;  ///< of words that were there before
  double starts =
      0;  ///< of words at which a match begins: those that do not go on with the last one
};

/// Looks at a window from the middle of the data, word by word, or at the differences between
/// neighbouring words.
Repeats repeats_in(std::size_t word_bytes, ByteSpan raw, bool differences);

}  // namespace mcr::codecs
