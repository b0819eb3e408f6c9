// SPDX-License-Identifier: BSD-3-Clause
// Finds earlier bricks that a brick repeats, exactly or nearly, also with exchanged axes. Looks up
// sampled words in a table of the places where these words occurred before, and counts the places
// that agree on brick and order. Does not compare bricks with each other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "codecs/references/axis_order.hpp"

namespace mcr::codecs {

/// An earlier brick (by the number that add() returned) and the order in which it is walked.
struct Reference {
  std::uint32_t brick = 0;
  AxisOrder order = same_order;

  bool operator==(const Reference&) const = default;
};

/// T: std::uint32_t or std::uint64_t. The words of all bricks must stay in place.
template <typename T>
class ReferenceIndex {
 public:
  /// `word_count`: the number of words of all bricks together. `dropped_bits`: how many low bits of
  /// a word are ignored, so that nearly equal words are found too.
  ReferenceIndex(std::uint64_t word_count, unsigned dropped_bits);

  /// Adds the next brick and returns its number. Sets `found` to the most promising references for
  /// the brick, best first, at most `limit`. A reference with the brick's own number is to the
  /// brick itself.
  std::uint32_t add(std::span<const T> words, const Box& box, std::size_t limit,
                    std::vector<Reference>& found);

  /// Returns the sampled places of the last added brick that differ from the place before.
  [[nodiscard]] std::span<const std::uint32_t> varied() const { return hits_; }
  [[nodiscard]] std::span<const T> words(std::uint32_t brick) const { return bricks_[brick].words; }
  [[nodiscard]] const Box& box(std::uint32_t brick) const { return bricks_[brick].box; }

 private:
  struct Brick {
    std::uint64_t first;
    std::span<const T> words;
    Box box;
  };
  static constexpr std::size_t ways = 4;

  /// Sets hits_ to the sampled places of `words`. Words that equal their neighbour do not show from
  /// where a brick is copied.
  void find_hits(std::span<const T> words);
  void vote(const Brick& target, std::size_t at, std::uint32_t place);

  std::vector<Brick> bricks_;
  std::vector<std::uint32_t> table_;  // place of a word in the order of adding, plus 1; 0: empty
  std::vector<std::uint32_t> hits_;
  std::vector<std::uint64_t> votes_;
  unsigned dropped_bits_;
  unsigned table_log_ = 10;
  std::uint64_t sample_mask_ = 0;
};

}  // namespace mcr::codecs
