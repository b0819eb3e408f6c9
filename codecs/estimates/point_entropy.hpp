// SPDX-License-Identifier: BSD-3-Clause
// Entropies from few points, corrected for the small number of points.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace mcr::codecs {

/// count * log2(count), from a table for small counts.
class CountLog {
 public:
  static constexpr std::size_t size = 4097;
  CountLog() {
    for (std::size_t i = 1; i < size; ++i) {
      value_[i] = static_cast<float>(static_cast<double>(i) * std::log2(static_cast<double>(i)));
    }
  }
  [[nodiscard]] double operator()(std::size_t count) const {
    if (count < size) return static_cast<double>(value_[count]);
    return static_cast<double>(count) * std::log2(static_cast<double>(count));
  }

 private:
  std::array<float, size> value_{};
};
inline const CountLog& count_log() {
  static const CountLog table;  // trivially destructible, so that no destructor runs at exit
  return table;
}

/// Returns the bits per symbol of an order-0 code. `sum` is the total of count * log2(count) over
/// the `seen` symbols of `total` points. Few points miss some rare symbols; the correction by
/// Miller and Madow adds their share. The result is at most `limit`.
inline double entropy_from(double sum, std::size_t seen, std::size_t total, double limit) {
  const auto n = static_cast<double>(total);
  const double missing = seen == 0 ? 0 : static_cast<double>(seen - 1) / (2 * n * 0.693147);
  return std::clamp(count_log()(total) / n - sum / n + missing, 0.0, limit);
}

template <typename Counts>
double entropy_of(const Counts& counts, std::size_t total, double limit) {
  const CountLog& log = count_log();
  double sum = 0;
  std::size_t seen = 0;
  for (const auto count : counts) {
    sum += log(count);
    seen += count != 0;
  }
  return entropy_from(sum, seen, total, limit);
}

/// Counts of bytes, with a running sum for their entropy. The cost grows with the number of points,
/// not with the 256 symbols.
class ByteCounts {
 public:
  void add(std::size_t byte) {
    const std::size_t count = counts_[byte]++;
    seen_ += count == 0;
    if (count + 1 < CountLog::size) {
      sum_ += log_(count + 1) - log_(count);
    }
  }
  [[nodiscard]] double entropy(std::size_t total) const {
    return entropy_from(sum_, seen_, total, 8);
  }
  /// The same if all 256 symbols may occur. Few points of random bytes show an entropy far below 8
  /// bits, and `noise` is that expected entropy. If the points' entropy is close to `noise`, it is
  /// taken for 8 bits.
  [[nodiscard]] double plane_entropy(std::size_t total, double noise) const {
    const double seen_bits = (count_log()(total) - sum_) / static_cast<double>(total);
    const double share = std::min(1.0, seen_bits / noise);
    return std::max(entropy(total), std::min(8.0, seen_bits + (8 - noise) * std::pow(share, 6)));
  }

 private:
  const CountLog& log_ = count_log();
  std::array<std::uint16_t, 256> counts_{};
  std::size_t seen_ = 0;
  double sum_ = 0;
};

/// Returns the expected entropy of `total` points of evenly distributed bytes, whose counts are
/// Poisson distributed.
inline double noise_entropy(std::size_t total) {
  const double mean = static_cast<double>(total) / 256;
  double probability = std::exp(-mean);
  double sum = 0;
  for (std::size_t count = 1; count < 16 + 4 * static_cast<std::size_t>(mean); ++count) {
    probability *= mean / static_cast<double>(count);
    sum += 256 * probability * count_log()(count);
  }
  const CountLog& log = count_log();
  return (log(total) - sum) / static_cast<double>(total);
}

/// Counts of keys: open addressing in a table at most half full.
class KeyCounts {
 public:
  struct Entry {
    std::uint64_t key = 0;
    std::uint32_t count = 0;
  };
  explicit KeyCounts(std::size_t most_keys)
      : entries_(std::bit_ceil(2 * most_keys + 2)), mask_(entries_.size() - 1) {}

  /// Returns how often the key was added before.
  std::uint32_t add(std::uint64_t key, std::uint32_t count = 1) {
    std::size_t at = (key * 0x9e3779b97f4a7c15U) >> 32;
    while (entries_[at & mask_].count != 0 && entries_[at & mask_].key != key) ++at;
    Entry& entry = entries_[at & mask_];
    entry.key = key;
    const std::uint32_t before = entry.count;
    entry.count += count;
    return before;
  }
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }

 private:
  std::vector<Entry> entries_;
  std::size_t mask_;
};

}  // namespace mcr::codecs
