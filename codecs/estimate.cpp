// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/estimate.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "codecs/base/cpu.hpp"
#include "codecs/base/float_environment.hpp"
#include "codecs/base/words.hpp"
#include "codecs/class_coder/class_symbols.hpp"

namespace mcr::codecs {
namespace {

constexpr double impossible = 1e9;
constexpr std::size_t run_length = 16;  // neighbouring points share cache lines
constexpr std::uint32_t widest_structure = 16;
constexpr double fitted_share = 0.99;   // of Lorenzo's bits: enough to have it tried
constexpr double frequent_bits = 3;     // a very frequent word: so much times the share of others
constexpr double match_bits = 22;       // a match of zstd: offset, length and what precedes it
constexpr double near_bits = 8;         // what nearly equal numbers cost above that, on average
constexpr double literal_share = 0.97;  // what zstd makes of words that do not repeat
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
const CountLog& count_log() {
  static const CountLog table;  // trivially destructible: nothing runs at exit
  return table;
}

/// Bits a symbol by an order-0 code, from `sum`, the total of count * log2(count) over the `seen`
/// symbols of `total` points. Few points see too few of the rare symbols; Miller's and Madow's
/// correction for that, and never more than `limit`.
double entropy_from(double sum, std::size_t seen, std::size_t total, double limit) {
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

/// Counts of bytes, whose entropy is kept up to date: it costs by points and not by 256.
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
  /// The same where all 256 symbols may occur. Of bytes without any order, few points see much less
  /// than 8 bits; `noise` is what they are expected to see, and what looks like that is taken for
  /// it.
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

/// A point and its neighbours: index bits 0, 1, 2 stand for one step back along the fastest, second
/// and third axis.
template <typename Word>
using Corner = std::array<Word, 8>;

/// Where rows of a brick run.
struct Axes {
  std::uint64_t length = 0;                   // of a row
  std::uint64_t stride = 1;                   // within it
  std::array<std::uint64_t, 2> step{};        // to the previous row along the second and third axis
  std::array<std::uint64_t, 2> extent{1, 1};  // of these axes
  std::uint64_t members = 1;                  // of a structure
};

Axes axes_of(const Shape& shape, bool split) {
  Axes axes;
  std::size_t rank = shape.rank;
  if (split) axes.members = shape.extent[--rank];
  axes.stride = axes.members;
  axes.length = shape.extent[rank - 1];
  std::uint64_t step = axes.stride * axes.length;
  for (std::size_t i = 0; i < 2 && i + 2 <= rank; ++i) {
    axes.step[i] = step;
    axes.extent[i] = shape.extent[rank - 2 - i];
    step *= axes.extent[i];
  }
  return axes;
}

bool can_split(const Layout& layout) {
  return std::any_of(layout.bricks.begin(), layout.bricks.end(), [](const Shape& shape) {
    const std::uint32_t last = shape.extent[shape.rank - 1];
    return shape.rank >= 2 && last >= 2 && last <= widest_structure;
  });
}

std::size_t most_axes(const Layout& layout, bool split) {
  std::size_t axes = 0;
  for (const Shape& shape : layout.bricks) axes = std::max<std::size_t>(axes, shape.rank);
  return axes - (split && axes > 1 ? 1 : 0);
}

template <typename Word>
Word word_at(ByteSpan raw, std::uint64_t index, bool reverse) {
  const Word word = load<Word>(raw.data() + index * sizeof(Word));
  // Elements lie in the layout's order; what is computed with is this machine's.
  return reverse ? reverse_bytes(word) : word;
}

/// Runs of points, spread evenly with a jitter that no stride of the data can follow.
template <typename Word>
void gather_points(const Layout& layout, ByteSpan raw, std::size_t points, bool split, bool reverse,
                   std::vector<Corner<Word>>& corners) {
  const std::uint64_t total = layout.count();
  const std::uint64_t runs =
      std::max<std::uint64_t>(1, std::min<std::uint64_t>(points, total) / run_length);
  std::uint64_t random = 0x9e3779b97f4a7c15;
  auto brick = layout.bricks.begin();
  std::uint64_t brick_begin = 0;
  corners.clear();
  for (std::uint64_t run = 0; run < runs; ++run) {
    random = random * 6364136223846793005U + 1442695040888963407U;
    const std::uint64_t window = std::max<std::uint64_t>(1, total / runs);
    const std::uint64_t at = std::min(total * run / runs + (random >> 33) % window, total - 1);
    while (at >= brick_begin + brick->count()) {
      brick_begin += brick->count();
      ++brick;
    }
    const std::uint32_t last = brick->extent[brick->rank - 1];
    const bool splits = split && brick->rank >= 2 && last >= 2 && last <= widest_structure;
    const Axes axes = axes_of(*brick, splits);
    const std::uint64_t inside = at - brick_begin;
    const std::uint64_t member = inside % axes.members;
    const std::uint64_t element = inside / axes.members;  // of the row-major box of structures
    const std::uint64_t row = element / axes.length;
    const std::uint64_t count = std::min<std::uint64_t>(run_length, axes.length);
    const std::uint64_t first = std::min(element % axes.length, axes.length - count);
    const std::uint64_t row_begin = brick_begin + row * axes.length * axes.stride + member;
    const bool has_second = row % axes.extent[0] != 0;
    const bool has_third = (row / axes.extent[0]) % axes.extent[1] != 0;
    const std::size_t at_corner = corners.size();
    corners.resize(at_corner + static_cast<std::size_t>(count));
    for (std::size_t k = 0; k < 8; ++k) {
      if (((k & 2) != 0 && !has_second) || ((k & 4) != 0 && !has_third)) continue;
      const bool left = (k & 1) != 0;
      const std::uint64_t back = (left ? axes.stride : 0) + ((k & 2) != 0 ? axes.step[0] : 0) +
                                 ((k & 4) != 0 ? axes.step[1] : 0);
      for (std::uint64_t i = left && first == 0 ? 1 : 0; i < count; ++i) {
        corners[at_corner + static_cast<std::size_t>(i)][k] =
            word_at<Word>(raw, row_begin + (first + i) * axes.stride - back, reverse);
      }
    }
  }
}

/// The entropy that `total` points of evenly distributed bytes show: counts are Poisson
/// distributed.
double noise_entropy(std::size_t total) {
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

/// Bits of words coded in byte planes.
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

/// Bits of residuals (zigzagged here) by the class coder.
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

/// Counts of keys: open addressing in a table at most half full.
class KeyCounts {
 public:
  struct Entry {
    std::uint64_t key = 0;
    std::uint32_t count = 0;
  };
  explicit KeyCounts(std::size_t most_keys)
      : entries_(std::bit_ceil(2 * most_keys + 2)), mask_(entries_.size() - 1) {}

  /// Answers how often the key came before.
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

/// Bits of words by a code of their first bits; words that are frequent as a whole have no rest.
/// `frequent` receives their share.
template <typename Word>
double top_bits_bits(const std::vector<Word>& words, double& frequent) {
  constexpr unsigned exponent = sizeof(Word) == 8 ? 11 : sizeof(Word) == 4 ? 8 : 5;
  constexpr unsigned top = 1 + exponent + 2;
  if constexpr (word_bits<Word> <= top) return impossible;
  constexpr unsigned rest_bits = word_bits<Word> - std::min(top, word_bits<Word> - 1);
  KeyCounts exact(words.size());
  for (const Word word : words) exact.add(word);
  KeyCounts keys(words.size());
  std::vector<std::uint32_t> counts;
  double rest = 0;
  for (const KeyCounts::Entry& entry : exact.entries()) {
    if (entry.count > 2 && entry.count * 32 > words.size()) {
      counts.push_back(entry.count);
      frequent += static_cast<double>(entry.count) / static_cast<double>(words.size());
    } else if (entry.count != 0) {
      keys.add(entry.key >> rest_bits, entry.count);
      rest += entry.count * rest_bits;
    }
  }
  for (const KeyCounts::Entry& entry : keys.entries()) {
    if (entry.count != 0) counts.push_back(entry.count);
  }
  return entropy_of(counts, words.size(), top) + rest / static_cast<double>(words.size());
}

/// A number without its last bits: a string matcher gains from what is nearly the same, too.
template <typename Word>
MCR_INLINE_LOOP Word upper_bits(Word word) {
  return static_cast<Word>(word >> (word_bits<Word> / 4));
}

/// True for one of some words, by nothing but its bits.
template <typename Word>
MCR_INLINE_LOOP bool content_says(Word word, std::uint32_t mask) {
  auto folded = static_cast<std::uint32_t>(word);
  if constexpr (sizeof(Word) == 8) folded ^= static_cast<std::uint32_t>(word >> 32) * 0x85ebca6bU;
  return ((folded * 0x9e3779b1U) & mask) == mask;  // never a zero
}
/// First block of sixteen words from `i` on that has such a word; `count` where there is none.
template <typename Word>
MCR_INLINE_LOOP std::size_t next_block_loop(const std::byte* words, std::size_t i,
                                            std::size_t count, std::uint32_t mask) {
  for (; i + 16 <= count; i += 16) {
    std::uint32_t any = 0;
    for (std::size_t k = 0; k < 16; ++k) {
      any |= content_says(upper_bits(load<Word>(words + (i + k) * sizeof(Word))), mask) ? 1U : 0U;
    }
    if (any != 0) return i;
  }
  return count;
}
#if MCR_HAVE_AVX2
template <typename Word>
MCR_AVX2_TARGET std::size_t next_block_avx2(const std::byte* words, std::size_t i,
                                            std::size_t count, std::uint32_t mask) {
  return next_block_loop<Word>(words, i, count, mask);
}
#endif
template <typename Word>
std::size_t next_block(const std::byte* words, std::size_t i, std::size_t count,
                       std::uint32_t mask) {
#if MCR_HAVE_AVX2
  if (cpu::has_avx2()) return next_block_avx2<Word>(words, i, count, mask);
#endif
  return next_block_loop<Word>(words, i, count, mask);
}

/// Share of words that occurred before, at least nearly, however far away, not counting the very
/// frequent ones. Which words are looked at is up to their content, so that equal ones are looked
/// at alike.
template <typename Word>
double share_seen_before(ByteSpan raw, std::size_t points) {
  constexpr std::uint32_t frequent = 32;
  const std::size_t count = std::min<std::size_t>(raw.size() / sizeof(Word), 20480);
  std::uint32_t one_of = 16;
  while (count / one_of > points) one_of *= 2;
  const std::uint32_t mask = (one_of - 1) << 20;
  std::vector<std::uint64_t> kept;
  kept.reserve(2 * points);
  for (std::size_t i = 0; (i = next_block<Word>(raw.data(), i, count, mask)) < count; i += 16) {
    for (std::size_t k = 0; k < 16; ++k) {
      const auto word = upper_bits(load<Word>(raw.data() + (i + k) * sizeof(Word)));
      if (content_says(word, mask)) kept.push_back(word);
    }
  }
  KeyCounts counts(kept.size());
  for (const std::uint64_t word : kept) counts.add(word);
  std::size_t distinct = 0;
  std::size_t all = 0;
  for (const KeyCounts::Entry& entry : counts.entries()) {
    if (entry.count == 0 || entry.count > frequent) continue;
    ++distinct;
    all += entry.count;
  }
  return all == 0 ? 0 : 1 - static_cast<double>(distinct) / static_cast<double>(all);
}

/// How much of a window a string matcher would find again.
struct Repeats {
  double share = 0;  ///< of words that were there before
  double starts =
      0;  ///< of words at which a match begins: those that do not go on with the last one
};

/// Looks at a window from the middle of the data, word by word, or at the differences between
/// neighbouring words.
template <typename Word>
Repeats repeats_in(ByteSpan raw, bool differences) {
  const std::size_t count = raw.size() / sizeof(Word);
  const std::size_t window =
      std::clamp<std::size_t>(count / 8, std::min<std::size_t>(count, 256), 4096);
  if (window < 2) return {};
  struct Seen {
    std::uint32_t tag;
    std::uint32_t place;  // 0: nothing was seen
  };
  const std::size_t mask = std::bit_ceil(2 * window) - 1;
  std::vector<Seen> table(mask + 1);
  const std::byte* from = raw.data() + (count - window) / 2 * sizeof(Word);
  std::uint32_t last_place = 0;
  std::size_t share = 0;
  std::size_t starts = 0;
  auto previous = load<Word>(from);
  for (std::uint32_t i = 1; i < window; ++i) {
    const auto word = load<Word>(from + i * sizeof(Word));
    std::uint64_t value = differences ? static_cast<Word>(word - previous) : word;
    // Small words say little alone: a match of Lempel-Ziv is four bytes at least.
    if constexpr (sizeof(Word) < 4) value = value << 16 | previous;
    previous = word;
    const std::uint64_t hash = (value + 1) * 0x9e3779b97f4a7c15U;
    const auto tag = static_cast<std::uint32_t>(hash);
    std::size_t at = hash >> 40;
    while (table[at & mask].place != 0 && table[at & mask].tag != tag) ++at;
    Seen& seen = table[at & mask];
    if (seen.place != 0) {
      ++share;
      if (last_place == 0 || seen.place != last_place + 1) ++starts;
    }
    last_place = seen.place;
    seen = {tag, i};
  }
  const auto n = static_cast<double>(window - 1);
  return {static_cast<double>(share) / n, static_cast<double>(starts) / n};
}

template <typename Word>
struct FloatOf;
template <>
struct FloatOf<std::uint64_t> {
  using Type = double;
};
template <>
struct FloatOf<std::uint32_t> {
  using Type = float;
};

template <typename Word>
Word float_prediction(const Corner<Word>& c) {
  using Float = typename FloatOf<Word>::Type;
  const auto f = [&c](std::size_t k) { return std::bit_cast<Float>(c[k]); };
  const Float p = f(1) + f(2) + f(4) - f(3) - f(5) - f(6) + f(7);
  return std::isnan(p) ? Word{0} : std::bit_cast<Word>(p);
}

template <typename Word>
void estimate_numbers(const Layout& layout, ByteSpan raw, std::size_t points, Estimates& out) {
  const bool floating = layout.type.kind == ElementKind::floating;
  const bool reverse = layout.type.big_endian != (std::endian::native == std::endian::big);
  const auto ordered = [floating](Word word) { return floating ? ordered_from_float(word) : word; };
  const DefaultFloatEnvironment environment;
  std::vector<Corner<Word>> corners;
  std::vector<Word> words;
  std::vector<Word> delta;
  std::vector<Word> best_delta;
  const auto set = [&out](Model model, bool split, double bits) {
    constexpr auto distance = static_cast<std::size_t>(Model::split_predicted) -
                              static_cast<std::size_t>(Model::predicted);
    out.bits[static_cast<std::size_t>(model) + (split ? distance : 0)] = bits;
  };
  for (const bool split : {false, true}) {
    if (split && !can_split(layout)) break;
    gather_points(layout, raw, points, split, reverse, corners);
    delta.resize(corners.size());
    for (std::size_t i = 0; i < corners.size(); ++i) {
      delta[i] = static_cast<Word>(ordered(corners[i][0]) - ordered(corners[i][1]));
    }
    if (!split) {  // to codes of order 0 the order does not matter
      words.resize(corners.size());
      for (std::size_t i = 0; i < corners.size(); ++i) words[i] = corners[i][0];
      set(Model::planes, false, plane_bits(words));
      if (floating) set(Model::top_bits, false, top_bits_bits(words, out.frequent));
    }
    // The predictor is chosen for each brick; what is best for all of them bounds that from above.
    double best = class_bits(delta);
    best_delta = delta;
    const auto also = [&](const auto& residual) {
      for (std::size_t i = 0; i < corners.size(); ++i) delta[i] = residual(corners[i]);
      const double bits = class_bits(delta);
      if (bits >= best) return;
      best = bits;
      best_delta.swap(delta);
    };
    if (most_axes(layout, split) >= 2) {
      also([&ordered](const Corner<Word>& c) {
        return static_cast<Word>(ordered(c[0]) - ordered(c[1]) - ordered(c[2]) + ordered(c[3]));
      });
    }
    if (most_axes(layout, split) >= 3) {
      also([&ordered](const Corner<Word>& c) {
        return static_cast<Word>(ordered(c[0]) - ordered(c[1]) - ordered(c[2]) - ordered(c[4]) +
                                 ordered(c[3]) + ordered(c[5]) + ordered(c[6]) - ordered(c[7]));
      });
    }
    if constexpr (sizeof(Word) >= 4) {
      if (floating && most_axes(layout, split) >= 2) {
        also([&ordered](const Corner<Word>& c) {
          return static_cast<Word>(ordered(c[0]) - ordered(float_prediction(c)));
        });
      }
    }
    set(Model::predicted, split, best);
    for (Word& word : best_delta) word = zigzag(word);
    set(Model::planes_predicted, split, plane_bits(best_delta));
    set(Model::fitted, split, best * fitted_share);
  }
}

bool all_equal(const Layout& layout, ByteSpan raw) {
  const std::size_t size = layout.type.size;
  return std::memcmp(raw.data() + size, raw.data(), raw.size() - size) == 0;
}

}  // namespace

Estimates estimate(const Layout& layout, ByteSpan raw, std::size_t points) {
  Estimates out;
  out.bits.fill(impossible);
  if (all_equal(layout, raw)) {
    out.bits[static_cast<std::size_t>(Model::constant)] = 0;
    return out;
  }
  const bool number = layout.type.kind != ElementKind::bytes;
  const std::size_t word_bytes = layout.type.size == 1       ? 1
                                 : layout.type.size % 8 == 0 ? 8
                                 : layout.type.size % 4 == 0 ? 4
                                                             : 1;
  with_word(number ? layout.type.size : word_bytes, [&](auto word) {
    using Word = decltype(word);
    if (number) estimate_numbers<Word>(layout, raw, points, out);
    const double words_in_element = layout.type.size / static_cast<double>(sizeof(Word));
    double cost = 0;
    if (layout.type.kind == ElementKind::floating) {
      const double seen = (1 - out.frequent) * share_seen_before<Word>(raw, points);
      out.repeated = out.frequent + seen;
      cost = out.frequent * frequent_bits * (1 - out.frequent) +
             seen * std::min<double>(match_bits + near_bits, word_bits<Word>);
    } else {
      const Repeats repeats = repeats_in<Word>(raw, false);
      out.repeated = repeats.share;
      cost = repeats.starts * match_bits;
    }
    cost += (1 - out.repeated) * word_bits<Word> * literal_share;
    out.bits[static_cast<std::size_t>(Model::words)] = words_in_element * cost;
    if (layout.type.kind == ElementKind::signed_integer ||
        layout.type.kind == ElementKind::unsigned_integer) {
      const Repeats differences = repeats_in<Word>(raw, true);
      const double others = std::min(out.of(Model::planes_predicted), 8.0 * layout.type.size);
      out.bits[static_cast<std::size_t>(Model::words_delta)] =
          (1 - differences.share) * (others + 2) +
          std::min(differences.starts * match_bits, differences.share * others);
    }
  });
  return out;
}

}  // namespace mcr::codecs
