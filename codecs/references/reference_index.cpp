// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/references/reference_index.hpp"

#include <algorithm>
#include <limits>

namespace mcr::codecs {
namespace {

constexpr std::size_t samples_per_brick = 48;
constexpr std::uint64_t entries_wanted = 1U << 17;
constexpr std::uint64_t max_sample_mask = 7;
constexpr std::size_t prefetched = 16;  ///< how many places ahead entries of the table are fetched

std::uint64_t mix(std::uint64_t key) {
  key *= 0x9e3779b97f4a7c15U;
  return key ^ (key >> 29);
}

bool is_plain(const Box& box) { return box[0] == 1 && box[1] == 1; }

/// True if a lower order walks `source` in the same way, because some extents are 1.
bool is_repeated(const Box& source, const Box& target, AxisOrder order) {
  const auto stride = strides_in(source, order);
  for (AxisOrder lower = 0; lower < order; ++lower) {
    if (!fits(source, target, lower)) continue;
    const auto other = strides_in(source, lower);
    bool same = true;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      same &= target[axis] == 1 || stride[axis] == other[axis];
    }
    if (same) return true;
  }
  return false;
}

}  // namespace

template <typename T>
ReferenceIndex<T>::ReferenceIndex(std::uint64_t word_count, unsigned dropped_bits)
    : dropped_bits_(dropped_bits) {
  while (sample_mask_ < max_sample_mask && word_count / (sample_mask_ + 1) > entries_wanted) {
    sample_mask_ = sample_mask_ * 2 + 1;
  }
  const std::uint64_t entries = word_count / (sample_mask_ + 1);
  while ((std::uint64_t{1} << table_log_) < entries && table_log_ < 22) ++table_log_;
  table_.resize((std::size_t{1} << table_log_) * ways);
}

template <typename T>
void ReferenceIndex<T>::vote(const Brick& target, std::size_t at, std::uint32_t place) {
  auto after = std::upper_bound(bricks_.begin(), bricks_.end(), place,
                                [](std::uint64_t p, const Brick& b) { return p < b.first; });
  const Brick& source = *--after;
  const auto number = static_cast<std::uint64_t>(after - bricks_.begin());
  const std::size_t from = place - source.first;
  if (source.words.size() != target.words.size()) return;
  if ((source.words[from] >> dropped_bits_) != (target.words[at] >> dropped_bits_)) return;
  const Box& box = target.box;
  const std::size_t k = at % box[2];
  const std::size_t j = at / box[2] % box[1];
  const std::size_t i = at / box[2] / box[1];
  for (AxisOrder order = 0; order < axis_order_count; ++order) {
    if (!fits(source.box, box, order)) continue;
    const auto stride = strides_in(source.box, order);
    if (i * stride[0] + j * stride[1] + k * stride[2] == from) votes_.push_back(number * 8 + order);
    if (is_plain(box)) break;
  }
}

// There is no branch on the words: in large sets, every eighth is a hit.
template <typename T>
void ReferenceIndex<T>::find_hits(std::span<const T> words) {
  constexpr std::size_t block = 4096;
  std::size_t count = 0;
  T before = 0;
  for (std::size_t begin = 0; begin < words.size(); begin += block) {
    const std::size_t end = std::min(begin + block, words.size());
    hits_.resize(count + (end - begin));
    for (std::size_t i = begin; i < end; ++i) {
      const T key = static_cast<T>(words[i] >> dropped_bits_);
      hits_[count] = static_cast<std::uint32_t>(i);
      count += static_cast<std::size_t>(key != before) & static_cast<std::size_t>(key != 0) &
               static_cast<std::size_t>((mix(key) & sample_mask_) == 0);
      before = key;
    }
  }
  hits_.resize(count);
}

template <typename T>
std::uint32_t ReferenceIndex<T>::add(std::span<const T> words, const Box& box, std::size_t limit,
                                     std::vector<Reference>& found) {
  found.clear();
  const std::uint64_t first =
      bricks_.empty() ? 0 : bricks_.back().first + bricks_.back().words.size();
  const auto number = static_cast<std::uint32_t>(bricks_.size());
  bricks_.push_back({first, words, box});
  hits_.clear();
  if (first + words.size() >= std::numeric_limits<std::uint32_t>::max()) return number;

  find_hits(words);
  votes_.clear();
  const std::size_t every = std::max<std::size_t>(1, hits_.size() / samples_per_brick);
  std::size_t looked_up = 0;
  const auto entry_of = [&](std::size_t h) {
    const std::uint64_t hash = mix(static_cast<std::uint64_t>(words[hits_[h]] >> dropped_bits_));
    return &table_[(hash >> (64 - table_log_)) * ways];
  };
  for (std::size_t h = 0; h < hits_.size(); ++h) {
    // The table is larger than a core's own caches.
    if (h + prefetched < hits_.size()) __builtin_prefetch(entry_of(h + prefetched), 1);
    const std::size_t at = hits_[h];
    std::uint32_t* entry = entry_of(h);
    if (h % every == 0) {
      ++looked_up;
      for (std::size_t way = 0; way < ways; ++way) {
        if (entry[way] != 0) vote(bricks_.back(), at, entry[way] - 1);
      }
    }
    // Keeps one place of this brick, so that the other entries are left for places of earlier
    // bricks.
    if (entry[0] == 0 || entry[0] - 1 < first) {
      for (std::size_t way = ways - 1; way > 0; --way) entry[way] = entry[way - 1];
    }
    entry[0] = static_cast<std::uint32_t>(first + at) + 1;
  }

  std::sort(votes_.begin(), votes_.end());
  struct Count {
    std::uint64_t key;
    std::size_t votes;
  };
  std::vector<Count> counts;
  for (const std::uint64_t key : votes_) {
    if (counts.empty() || counts.back().key != key) counts.push_back({key, 0});
    ++counts.back().votes;
  }
  std::stable_sort(counts.begin(), counts.end(),
                   [](const Count& a, const Count& b) { return a.votes > b.votes; });
  const std::size_t least = std::max<std::size_t>(2, looked_up / 16);
  for (const Count& count : counts) {
    if (count.votes < least || found.size() == limit) break;
    const Reference reference{static_cast<std::uint32_t>(count.key / 8),
                              static_cast<AxisOrder>(count.key % 8)};
    const Box& source = bricks_[reference.brick].box;
    if (is_repeated(source, box, reference.order)) continue;
    if (reference.brick == number && reference.order == same_order) continue;
    found.push_back(reference);
  }
  return number;
}

template class ReferenceIndex<std::uint32_t>;
template class ReferenceIndex<std::uint64_t>;

}  // namespace mcr::codecs
