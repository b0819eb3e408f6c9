// SPDX-License-Identifier: BSD-3-Clause
// Chooses the predictions of a brick: the ones that are best together at sampled places of the
// brick. Only the encoder chooses; the choice is stored for the decoder.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "codecs/frames/solid_format.hpp"
#include "codecs/references/reference_index.hpp"
#include "codecs/word_candidates/word_candidates.hpp"

namespace mcr::codecs::solid {

/// The sections of one word size, in the order of coding. References can point to their bricks.
template <typename T>
struct WordHistory {
  explicit WordHistory(std::uint64_t word_count) : index(word_count, sizeof(T) == 8 ? 20 : 6) {}

  struct Place {
    std::uint32_t section;
    std::uint32_t brick;
  };
  ReferenceIndex<T> index;
  std::vector<Place> places;  ///< the places of the bricks in `index`
};

/// The source of a prediction, before the needs of its section are numbered.
struct BrickSource {
  PredictionSource::Kind kind = PredictionSource::Kind::neighbours;
  Reference reference;    ///< its brick is a number in the history
  std::uint8_t axes = 0;  ///< neighbours
};

/// A brick that must be predicted, and its possible predictions.
template <typename T>
struct PredictedBrick {
  words::Numbers numbers;
  std::span<const T> words;
  std::uint32_t number;  ///< number in the history, where it was added last
  /// The references that the history's index found for the brick.
  std::span<const Reference> promising;
  const T* computed;  ///< a formula's results; null: no formula
};

struct BrickSources {
  std::vector<BrickSource> sources;  ///< at least one
  std::uint64_t estimated_bits = 0;  ///< of all words
};

template <typename T>
BrickSources choose_sources(const PredictedBrick<T>& brick, const WordHistory<T>& history,
                            std::size_t most);

}  // namespace mcr::codecs::solid
