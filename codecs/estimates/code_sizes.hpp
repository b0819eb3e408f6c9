// SPDX-License-Identifier: BSD-3-Clause
// Estimates from sampled points how many bits per element codes of order 0, and similar codes,
// need.
#pragma once

#include "codecs/base/words.hpp"
#include "codecs/class_coder/class_symbols.hpp"
#include "codecs/estimates/point_entropy.hpp"

namespace mcr::codecs {

/// The result of a model that does not fit the data.
inline constexpr double impossible_bits = 1e9;

/// Returns the bits of words that are coded in byte planes.
template <typename Word>
double plane_bits(const std::vector<Word>& words) {
  std::array<ByteCounts, sizeof(Word)> planes;
  for (const Word word : words) {
    for (std::size_t b = 0; b < sizeof(Word); ++b) planes[b].add((word >> (8 * b)) & 0xff);
  }
  double bits = 0;
  const double noise = noise_entropy(words.size());
  for (const ByteCounts& plane : planes) bits += plane.plane_entropy(words.size(), noise);
  return bits;
}

/// Returns the bits of residuals in the class coder. The function zigzags the residuals itself.
template <typename Word>
double class_bits(const std::vector<Word>& residuals) {
  ByteCounts counts;
  std::uint64_t rest = 0;
  for (const Word residual : residuals) {
    const ClassAndWidth c = classify<Word>(zigzag(residual));
    counts.add(c.symbol);
    rest += c.width;
  }
  return counts.entropy(residuals.size()) +
         static_cast<double>(rest) / static_cast<double>(residuals.size());
}

/// Returns how many bits per element the class coder's symbols save if each is coded in the context
/// of the symbol before it. Points lie in runs, so the point before is mostly the neighbour.
template <typename Word>
double context_gain(const std::vector<Word>& residuals) {
  constexpr std::size_t buckets = 4;
  constexpr std::size_t least_points = 512;  // four tables cannot be estimated from fewer points
  const std::size_t count = residuals.size();
  if (count < least_points) return 0;
  std::vector<std::uint8_t> symbols(count);
  std::array<std::size_t, 256> histogram{};
  for (std::size_t i = 0; i < count; ++i) {
    symbols[i] = static_cast<std::uint8_t>(classify<Word>(zigzag(residuals[i])).symbol);
    ++histogram[symbols[i]];
  }
  std::array<std::uint8_t, 256> bucket_of{};
  std::size_t below = 0;
  for (std::size_t symbol = 0; symbol < 256; ++symbol) {
    bucket_of[symbol] = static_cast<std::uint8_t>(below * buckets / count);
    below += histogram[symbol];
  }
  std::array<ByteCounts, buckets> counts;
  std::array<std::size_t, buckets> sizes{};
  ByteCounts all;
  for (std::size_t i = 1; i < count; ++i) {
    const std::size_t bucket = bucket_of[symbols[i - 1]];
    counts[bucket].add(symbols[i]);
    ++sizes[bucket];
    all.add(symbols[i]);
  }
  double apart = 0;
  for (std::size_t b = 0; b < buckets; ++b) {
    if (sizes[b] != 0) apart += static_cast<double>(sizes[b]) * counts[b].entropy(sizes[b]);
  }
  const auto n = static_cast<double>(count - 1);
  return std::max(0.0, all.entropy(count - 1) - apart / n);
}

/// Returns the bits of words that are coded as indices in a table of the distinct words. Returns
/// impossible_bits if too many words occur only once among the points. `total` is the number of all
/// elements.
template <typename Word>
double dictionary_bits(const std::vector<Word>& words, std::uint64_t total) {
  constexpr double most_new = 0.4;  // share of points whose word occurs only once
  constexpr double least_twice = 24;
  constexpr std::size_t least_points = 256;
  if (words.size() < least_points) return impossible_bits;
  KeyCounts counts(words.size());
  for (const Word word : words) counts.add(word);
  double once = 0;
  double twice = 0;
  double distinct = 0;
  std::vector<std::uint32_t> each;
  for (const KeyCounts::Entry& entry : counts.entries()) {
    if (entry.count == 0) continue;
    each.push_back(entry.count);
    distinct += 1;
    once += entry.count == 1 ? 1 : 0;
    twice += entry.count == 2 ? 1 : 0;
  }
  const auto n = static_cast<double>(words.size());
  // If too many words occur once, a table is not possible. An exception: enough words occur twice,
  // so that the number of distinct words can be estimated.
  if (once > most_new * n && twice < least_twice) return impossible_bits;
  // Chao's estimate if some words occur twice; otherwise new words are assumed to appear at a
  // constant rate.
  const double fresh = once / n;
  const double all = twice > 0.15 * once || twice >= least_twice
                         ? distinct + once * once / (2 * std::max(twice, 1.0))
                         : distinct + 0.7 * fresh * static_cast<double>(total);
  if (all > 65000 || all * 5 > static_cast<double>(total)) return impossible_bits;
  return entropy_of(each, words.size(), word_bits<Word>) +
         fresh * std::log2(all / std::max(once, 1.0) + 1) +
         all * word_bits<Word> / static_cast<double>(total);
}

/// Returns the bits of words whose top bits are coded. A word that is frequent as a whole has a
/// symbol of its own, and no other bits. `frequent` receives the share of frequent words,
/// `frequent_mix` the entropy of one of them.
template <typename Word>
double top_bits_bits(const std::vector<Word>& words, double& frequent, double& frequent_mix) {
  constexpr unsigned exponent = sizeof(Word) == 8 ? 11 : sizeof(Word) == 4 ? 8 : 5;
  constexpr unsigned top = 1 + exponent + 2;
  if constexpr (word_bits<Word> <= top) return impossible_bits;
  double mixed = 0;
  std::size_t all_frequent = 0;
  constexpr unsigned rest_bits = word_bits<Word> - std::min(top, word_bits<Word> - 1);
  KeyCounts exact(words.size());
  for (const Word word : words) exact.add(word);
  KeyCounts keys(words.size());
  std::vector<std::uint32_t> counts;
  double rest = 0;
  for (const KeyCounts::Entry& entry : exact.entries()) {
    if (entry.count > 2 && entry.count * 32 > words.size()) {
      counts.push_back(entry.count);
      mixed += count_log()(entry.count);
      all_frequent += entry.count;
    } else if (entry.count != 0) {
      keys.add(entry.key >> rest_bits, entry.count);
      rest += entry.count * rest_bits;
    }
  }
  for (const KeyCounts::Entry& entry : keys.entries()) {
    if (entry.count != 0) counts.push_back(entry.count);
  }
  const auto n = static_cast<double>(words.size());
  frequent = static_cast<double>(all_frequent) / n;
  if (all_frequent != 0) {
    frequent_mix = (count_log()(all_frequent) - mixed) / static_cast<double>(all_frequent);
  }
  return entropy_of(counts, words.size(), top) + rest / static_cast<double>(words.size());
}

}  // namespace mcr::codecs
