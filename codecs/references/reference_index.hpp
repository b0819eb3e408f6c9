// SPDX-License-Identifier: BSD-3-Clause
// Finds earlier bricks that a brick repeats, exactly or nearly, also with its axes exchanged. One
// look-up of a sampled word answers where such a word was seen; places that agree on brick and
// order are counted. No pair of bricks is ever compared here.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "codecs/references/axis_order.hpp"

namespace mcr::codecs {

/// An earlier brick (by the number that add() gave it) and how it is walked.
struct Reference {
  std::uint32_t brick = 0;
  AxisOrder order = same_order;

  bool operator==(const Reference&) const = default;
};

/// T: std::uint32_t or std::uint64_t. The words of all bricks must stay where they are.
template <typename T>
class ReferenceIndex {
 public:
  /// `word_count`: of all bricks together. `dropped_bits`: how many low bits of a word do not
  /// count, so that nearly equal words are found too.
  ReferenceIndex(std::uint64_t word_count, unsigned dropped_bits);

  /// Adds the next brick and answers its number. The `limit` most promising references for it, the
  /// best first, replace the contents of `found`; its own number means itself.
  std::uint32_t add(std::span<const T> words, const Box& box, std::size_t limit,
                    std::vector<Reference>& found);

  /// Places in the brick of the last add() that differ from the place before: where it is not
  /// trivial.
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

  void vote(const Brick& target, std::size_t at, std::uint32_t place);

  std::vector<Brick> bricks_;
  std::vector<std::uint32_t> table_;  // place + 1 of a word in the order of adding, 0: none
  std::vector<std::uint32_t> hits_;
  std::vector<std::uint64_t> votes_;
  unsigned dropped_bits_;
  unsigned table_log_ = 10;
  std::uint64_t sample_mask_ = 0;
};

}  // namespace mcr::codecs
