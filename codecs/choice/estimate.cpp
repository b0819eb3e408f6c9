// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/choice/estimate.hpp"

#include <cmath>
#include <cstring>
#include <limits>

#include "codecs/base/float_environment.hpp"
#include "codecs/estimates/code_sizes.hpp"
#include "codecs/estimates/order_residuals.hpp"
#include "codecs/estimates/points.hpp"
#include "codecs/estimates/repeats.hpp"

namespace mcr::codecs {
namespace {

constexpr double fitted_share = 0.99;  // of Lorenzo's bits: small enough that a stencil is tried
// Bits that zstd saves in planes, for each bit that contexts save.
constexpr double planes_gain = 1.5;
// Members apart: points cannot judge it, so it is set to be tried.
constexpr double split_planes_share = 1.002;
constexpr double mixed_bits = 2;  // cost of changes between frequent words, for each bit of entropy
// Cost of a very frequent word: this times the share of other words.
constexpr double frequent_bits = 3;
constexpr double match_bits = 22;  // a match of zstd: offset, length and what precedes it
// What a match of nearly equal numbers costs in addition, on average.
constexpr double near_bits = 8;
constexpr double literal_share = 0.97;  // share of words that do not repeat which zstd leaves

template <typename Word>
Word float_prediction(const Corner<Word>& c) {
  using Float = FloatOf<Word>;
  const auto f = [&c](std::size_t k) { return std::bit_cast<Float>(c[k]); };
  const Float p = f(1) + f(2) + f(4) - f(3) - f(5) - f(6) + f(7);
  return std::isnan(p) ? Word{0} : std::bit_cast<Word>(p);
}

template <typename Word>
struct Prediction {
  double bits = std::numeric_limits<double>::infinity();  ///< bits per number
  std::vector<Word> delta;                                ///< residuals, signed
};

/// Returns the best of Lorenzo's predictions.
template <typename Word>
Prediction<Word> best_prediction(const Layout& layout, ByteSpan raw, bool split, bool reverse,
                                 const std::vector<Corner<Word>>& corners,
                                 const std::vector<PointRun>& runs) {
  const bool floating = layout.type.kind == ElementKind::floating;
  const auto ordered = [floating](Word word) { return floating ? ordered_from_float(word) : word; };
  // One predictor for all bricks gives an upper bound, because the codec chooses a predictor for
  // each brick.
  Prediction<Word> best;
  std::vector<Word> delta(corners.size());
  const auto keep_if_better = [&] {
    const double bits = class_bits(delta);
    if (bits >= best.bits) return;
    best.bits = bits;
    best.delta.swap(delta);
    delta.resize(corners.size());
  };
  const auto also = [&](const auto& residual) {
    for (std::size_t i = 0; i < corners.size(); ++i) delta[i] = residual(corners[i]);
    keep_if_better();
  };
  also([&ordered](const Corner<Word>& c) {
    return static_cast<Word>(ordered(c[0]) - ordered(c[1]));
  });
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
  const auto also_order = [&]<typename A>(const auto& number) {
    const auto read = [&](std::uint64_t index) {
      return number(word_at<Word>(raw, index, reverse));
    };
    if (!best_order<A>(runs, most_axes(layout, split), best.delta, read, delta)) return;
    keep_if_better();
  };
  const auto also_orders = [&] {
    if constexpr (sizeof(Word) >= 4) {
      if (floating) {
        return also_order.template operator()<FloatingArithmetic<Word>>(
            [](Word word) { return std::bit_cast<FloatOf<Word>>(word); });
      }
    }
    also_order.template operator()<IntegerArithmetic<Word>>(ordered);
  };
  also_orders();
  return best;
}

template <typename Word>
void estimate_numbers(const Layout& layout, ByteSpan raw, std::size_t points, Estimates& out) {
  const bool floating = layout.type.kind == ElementKind::floating;
  const bool reverse = layout.type.big_endian != (std::endian::native == std::endian::big);
  const DefaultFloatEnvironment environment;
  std::vector<Corner<Word>> corners;
  std::vector<PointRun> runs;
  std::vector<Word> words;
  const auto set = [&out](Model model, bool split, double bits) {
    constexpr auto distance = static_cast<std::size_t>(Model::split_predicted) -
                              static_cast<std::size_t>(Model::predicted);
    out.bits[static_cast<std::size_t>(model) + (split ? distance : 0)] = bits;
  };
  for (const bool split : {false, true}) {
    if (split && !can_split(layout)) break;
    gather_points(layout, raw, points, split, reverse, corners, runs);
    if (!split) {  // codes of order 0 do not depend on the order
      words.resize(corners.size());
      for (std::size_t i = 0; i < corners.size(); ++i) words[i] = corners[i][0];
      set(Model::planes, false, plane_bits(words));
      if (floating)
        set(Model::top_bits, false, top_bits_bits(words, out.frequent, out.frequent_mix));
      if (sizeof(Word) > 1) set(Model::dictionary, false, dictionary_bits(words, layout.count()));
    } else {
      out.bits[static_cast<std::size_t>(Model::split_planes)] =
          out.of(Model::planes) * split_planes_share;
    }
    auto [bits, residuals] = best_prediction(layout, raw, split, reverse, corners, runs);
    set(Model::predicted, split, bits);
    const double gain = context_gain(residuals);
    set(Model::contexts, split, bits - gain);
    for (Word& word : residuals) word = zigzag(word);
    set(Model::planes_predicted, split, plane_bits(residuals) - gain * planes_gain);
    set(Model::fitted, split, bits * fitted_share);
  }
}

/// Returns the bits of a record of bytes, if each of its bytes is a plane.
double record_plane_bits(const Layout& layout, ByteSpan raw, std::size_t points) {
  constexpr std::size_t largest = 64;
  const std::size_t size = layout.type.size;
  if (size > largest) return impossible_bits;
  const std::size_t total = raw.size() / size;
  const std::size_t count = std::min(points, total);
  const double noise = noise_entropy(count);
  double bits = 0;
  for (std::size_t b = 0; b < size; ++b) {
    ByteCounts counts;
    for (std::size_t i = 0; i < count; ++i) {
      counts.add(std::to_integer<std::size_t>(raw[total * i / count * size + b]));
    }
    bits += counts.plane_entropy(count, noise);
  }
  return bits;
}

bool all_equal(const Layout& layout, ByteSpan raw) {
  const std::size_t size = layout.type.size;
  return std::memcmp(raw.data() + size, raw.data(), raw.size() - size) == 0;
}

}  // namespace

Estimates estimate(const Layout& layout, ByteSpan raw, std::size_t points) {
  Estimates out;
  out.bits.fill(impossible_bits);
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
    if (number) {
      estimate_numbers<Word>(layout, raw, points, out);
    } else {
      out.bits[static_cast<std::size_t>(Model::planes)] = record_plane_bits(layout, raw, points);
    }
    const double words_in_element = layout.type.size / static_cast<double>(sizeof(Word));
    double cost = 0;
    if (layout.type.kind == ElementKind::floating) {
      const double seen = (1 - out.frequent) * share_seen_before(sizeof(Word), raw, points);
      out.repeated = out.frequent + seen;
      cost = out.frequent * (frequent_bits * (1 - out.frequent) + mixed_bits * out.frequent_mix) +
             seen * std::min<double>(match_bits + near_bits, word_bits<Word>);
    } else {
      const Repeats repeats = repeats_in(sizeof(Word), raw, false);
      out.repeated = repeats.share;
      cost = repeats.starts * match_bits;
    }
    cost += (1 - out.repeated) * word_bits<Word> * literal_share;
    out.bits[static_cast<std::size_t>(Model::words)] = words_in_element * cost;
    if (layout.type.kind == ElementKind::signed_integer ||
        layout.type.kind == ElementKind::unsigned_integer) {
      const Repeats differences = repeats_in(sizeof(Word), raw, true);
      const double others = std::min(out.of(Model::planes_predicted), 8.0 * layout.type.size);
      out.bits[static_cast<std::size_t>(Model::words_delta)] =
          (1 - differences.share) * (others + 2) +
          std::min(differences.starts * match_bits, differences.share * others);
    }
  });
  return out;
}

}  // namespace mcr::codecs
