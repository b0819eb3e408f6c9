// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/estimate.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "codecs/base/float_environment.hpp"
#include "codecs/base/words.hpp"
#include "codecs/class_coder/class_symbols.hpp"

namespace mcr::codecs {
namespace {

constexpr double impossible = 1e9;
constexpr std::size_t run_length = 16;  // neighbouring points share cache lines
constexpr std::uint32_t widest_structure = 16;

/// x log2 x for small counts, made by the compiler's series once per table: log2 alone would cost
/// more than all the rest here.
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

/// Bits a symbol by an order-0 code, from sampled counts. Few points see too few of the rare
/// symbols; Miller's and Madow's correction for that, and never more than `limit`.
template <typename Counts>
double entropy_of(const Counts& counts, std::size_t total, double limit) {
  const CountLog& log = count_log();
  double sum = 0;
  std::size_t seen = 0;
  for (const auto count : counts) {
    sum += log(count);
    seen += count != 0;
  }
  const auto n = static_cast<double>(total);
  const double missing = seen == 0 ? 0 : static_cast<double>(seen - 1) / (2 * n * 0.693147);
  return std::clamp(log(total) / n - sum / n + missing, 0.0, limit);
}

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

template <typename Word>
struct Points {
  std::vector<Corner<Word>> corners;
};

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
    for (std::uint64_t i = first; i < first + count; ++i) {
      Corner<Word> corner{};
      for (std::size_t k = 0; k < 8; ++k) {
        if (((k & 1) != 0 && i == 0) || ((k & 2) != 0 && !has_second) ||
            ((k & 4) != 0 && !has_third)) {
          continue;
        }
        const std::uint64_t back = ((k & 1) != 0 ? axes.stride : 0) +
                                   ((k & 2) != 0 ? axes.step[0] : 0) +
                                   ((k & 4) != 0 ? axes.step[1] : 0);
        corner[k] = word_at<Word>(raw, row_begin + i * axes.stride - back, reverse);
      }
      corners.push_back(corner);
    }
  }
}

/// Bits of words coded in byte planes.
template <typename Word>
double plane_bits(const std::vector<Word>& words) {
  double bits = 0;
  for (std::size_t b = 0; b < sizeof(Word); ++b) {
    std::array<std::uint32_t, 256> counts{};
    for (const Word word : words) ++counts[(word >> (8 * b)) & 0xff];
    bits += entropy_of(counts, words.size(), 8);
  }
  return bits;
}

/// Bits of residuals (zigzagged here) by the class coder.
template <typename Word>
double class_bits(const std::vector<Word>& residuals) {
  std::array<std::uint32_t, 256> counts{};
  std::uint64_t rest = 0;
  for (const Word residual : residuals) {
    const ClassAndWidth c = classify<Word>(zigzag(residual));
    ++counts[c.symbol];
    rest += c.width;
  }
  return entropy_of(counts, residuals.size(), 8) +
         static_cast<double>(rest) / static_cast<double>(residuals.size());
}

/// Bits of words by a code of their first bits; words that are frequent as a whole have no rest.
template <typename Word>
double top_bits_bits(std::vector<Word> words, ElementKind kind) {
  const unsigned exponent = kind != ElementKind::floating ? 6
                            : sizeof(Word) == 8           ? 11
                            : sizeof(Word) == 4           ? 8
                                                          : 5;
  const unsigned top =
      std::min<unsigned>(word_bits<Word>, 1 + exponent + (sizeof(Word) == 8 ? 2 : 3));
  const unsigned rest_bits = word_bits<Word> - top;
  std::sort(words.begin(), words.end());
  std::vector<std::uint32_t> counts;
  double rest = 0;
  std::uint32_t others = 0;  // of the same top bits, not frequent as a whole
  for (std::size_t i = 0; i < words.size();) {
    std::size_t end = i;
    while (end < words.size() && words[end] == words[i]) ++end;
    const auto repeats = static_cast<std::uint32_t>(end - i);
    if (repeats > 2 && repeats * 32 > words.size()) {
      counts.push_back(repeats);
    } else {
      others += repeats;
      rest += repeats * rest_bits;
    }
    const bool class_ends =
        end == words.size() || (words[end] >> rest_bits) != (words[i] >> rest_bits);
    if (class_ends && others != 0) {
      counts.push_back(others);
      others = 0;
    }
    i = end;
  }
  return entropy_of(counts, words.size(), word_bits<Word>) +
         rest / static_cast<double>(words.size());
}

/// Share of words that occurred before, among those of a quarter of the data whose content says
/// that they are looked at: equal words are looked at alike, however far apart.
template <typename Word>
double repeated_share(ByteSpan raw, std::size_t points) {
  const std::size_t count = raw.size() / sizeof(Word);
  const std::size_t looked_at =
      std::clamp<std::size_t>(count / 4, std::min<std::size_t>(count, 64), 65536);
  // Keep one of so many that about `points` remain.
  std::size_t one_of = 1;
  while (looked_at / one_of > points) one_of *= 2;
  std::vector<std::uint64_t> kept;
  kept.reserve(2 * points);
  for (std::size_t i = 0; i < looked_at; ++i) {
    const std::uint64_t word = load<Word>(raw.data() + i * sizeof(Word));
    const std::uint64_t hash = word * 0x9e3779b97f4a7c15U;
    if (((hash >> 40) & (one_of - 1)) == 0) kept.push_back(word);
  }
  if (kept.empty()) return 0;
  const std::size_t all = kept.size();
  std::sort(kept.begin(), kept.end());
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  return 1 - static_cast<double>(kept.size()) / static_cast<double>(all);
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
  const auto set = [&out](Model model, bool split, double bits) {
    const auto first_split = static_cast<std::size_t>(Model::split_planes);
    out.bits[static_cast<std::size_t>(model) + (split ? first_split : 0)] = bits;
  };
  for (const bool split : {false, true}) {
    if (split && !can_split(layout)) break;
    gather_points(layout, raw, points, split, reverse, corners);
    words.resize(corners.size());
    delta.resize(corners.size());
    for (std::size_t i = 0; i < corners.size(); ++i) words[i] = corners[i][0];
    for (std::size_t i = 0; i < corners.size(); ++i) {
      delta[i] = static_cast<Word>(ordered(corners[i][0]) - ordered(corners[i][1]));
    }
    set(Model::planes, split, plane_bits(words));
    set(Model::planes_delta, split, plane_bits(delta));
    set(Model::top_bits, split, top_bits_bits(words, layout.type.kind));
    set(Model::class_delta, split, class_bits(delta));
    for (std::size_t i = 0; i < corners.size(); ++i) {
      Corner<Word> c = corners[i];
      for (Word& word : c) word = ordered(word);
      delta[i] = static_cast<Word>(c[0] - c[1] - c[2] - c[4] + c[3] + c[5] + c[6] - c[7]);
    }
    set(Model::class_lorenzo, split, class_bits(delta));
    if constexpr (sizeof(Word) >= 4) {
      if (!floating) continue;
      for (std::size_t i = 0; i < corners.size(); ++i) {
        delta[i] =
            static_cast<Word>(ordered(corners[i][0]) - ordered(float_prediction(corners[i])));
      }
      set(Model::class_lorenzo_float, split, class_bits(delta));
    }
  }
}

bool all_equal(const Layout& layout, ByteSpan raw) {
  const std::size_t size = layout.type.size;
  return std::equal(raw.begin() + static_cast<std::ptrdiff_t>(size), raw.end(), raw.begin());
}

}  // namespace

Estimates estimate(const Layout& layout, ByteSpan raw, std::size_t points) {
  Estimates out;
  out.bits.fill(impossible);
  const double raw_bits = 8.0 * layout.type.size;
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
    out.repeated = repeated_share<Word>(raw, points);
  });
  // A repeated word costs its share of a match; most matches are short.
  out.bits[static_cast<std::size_t>(Model::words)] =
      raw_bits * (1 - out.repeated) + out.repeated * std::min(raw_bits, 16.0);
  return out;
}

}  // namespace mcr::codecs
