// SPDX-License-Identifier: BSD-3-Clause
// Which predictions a brick is coded with: those that are best together at some of its places.
// Encoder only; a decoder is told.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "codecs/frames/solid_format.hpp"
#include "codecs/references/reference_index.hpp"
#include "codecs/word_candidates/word_candidates.hpp"

namespace mcr::codecs::solid {

/// Sections of one word size, in the order in which they are coded: what references may refer to.
template <typename T>
struct WordHistory {
  explicit WordHistory(std::uint64_t word_count) : index(word_count, sizeof(T) == 8 ? 20 : 6) {}

  struct Place {
    std::uint32_t section;
    std::uint32_t brick;
  };
  ReferenceIndex<T> index;
  std::vector<Place> places;  ///< of the index's bricks
};

/// Where a prediction comes from, while its section's needs are not numbered yet.
struct BrickSource {
  PredictionSource::Kind kind = PredictionSource::Kind::neighbours;
  Reference reference;    ///< brick: of the history
  std::uint8_t axes = 0;  ///< neighbours
};

/// What is to be predicted, and from what.
template <typename T>
struct PredictedBrick {
  words::Numbers numbers;
  std::span<const T> words;
  std::uint32_t number;                  ///< in the history: the last that was added
  std::span<const Reference> promising;  ///< what the history's index found for it
  const T* computed;                     ///< a formula's results; null: there is none
};

struct BrickSources {
  std::vector<BrickSource> sources;  ///< at least one
  std::uint64_t estimated_bits = 0;  ///< of all words
};

template <typename T>
BrickSources choose_sources(const PredictedBrick<T>& brick, const WordHistory<T>& history,
                            std::size_t most);

}  // namespace mcr::codecs::solid
