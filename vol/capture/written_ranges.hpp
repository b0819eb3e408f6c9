// SPDX-License-Identifier: BSD-3-Clause
// Remembers which bytes of a part were written. A reused stage file contains another part's old
// bytes, so all bytes that were not written must read as zeros and be zeroed at publish.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace mcr::vol {

class WrittenRanges {
 public:
  struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    bool operator==(const Range&) const = default;
  };

  /// Adds [begin, end). HDF5 mostly writes where it wrote last, so the last range is tried first.
  void add(std::uint64_t begin, std::uint64_t end) {
    if (begin >= end) return;
    if (last_ < ranges_.size()) {
      Range& last = ranges_[last_];
      const std::uint64_t next_begin =
          last_ + 1 < ranges_.size() ? ranges_[last_ + 1].begin : UINT64_MAX;
      if (begin >= last.begin && begin <= last.end && end < next_begin) {
        last.end = std::max(last.end, end);
        return;
      }
    }
    // Find the first range that touches [begin, end], and the first range behind it that does not.
    const auto first =
        std::lower_bound(ranges_.begin(), ranges_.end(), begin,
                         [](const Range& range, std::uint64_t at) { return range.end < at; });
    auto behind = first;
    while (behind != ranges_.end() && behind->begin <= end) {
      begin = std::min(begin, behind->begin);
      end = std::max(end, behind->end);
      ++behind;
    }
    last_ = static_cast<std::size_t>(first - ranges_.begin());
    if (first == behind) {
      ranges_.insert(first, Range{begin, end});
    } else {
      *first = Range{begin, end};
      ranges_.erase(first + 1, behind);
    }
  }

  /// Forgets all bytes from `size` on.
  void cut(std::uint64_t size) {
    while (!ranges_.empty() && ranges_.back().begin >= size) ranges_.pop_back();
    if (!ranges_.empty()) ranges_.back().end = std::min(ranges_.back().end, size);
    last_ = 0;
  }

  /// Calls `gap(begin, end)` for each unwritten range in [begin, end), in order; stops at the first
  /// false result.
  template <typename Gap>
  bool for_gaps(std::uint64_t begin, std::uint64_t end, Gap gap) const {
    auto range = std::lower_bound(
        ranges_.begin(), ranges_.end(), begin,
        [](const Range& candidate, std::uint64_t at) { return candidate.end <= at; });
    std::uint64_t at = begin;
    for (; range != ranges_.end() && range->begin < end; ++range) {
      if (at < range->begin && !gap(at, range->begin)) return false;
      at = std::max(at, range->end);
    }
    return at >= end || gap(at, end);
  }

  [[nodiscard]] const std::vector<Range>& ranges() const { return ranges_; }

 private:
  std::vector<Range> ranges_;  // sorted, and never adjacent
  std::size_t last_ = 0;
};

}  // namespace mcr::vol
