// SPDX-License-Identifier: BSD-3-Clause
// To rule out a common step, 64 numbers suffice, in runs of neighbours that fit into a cache line.
// More numbers are sampled only if these 64 have a common step. Of several steps, the search takes
// the one whose multiples differ least between neighbours. It takes no step if even this one saves
// less than one bit per number.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "codecs/base/float_environment.hpp"
#include "codecs/base/integers.hpp"
#include "codecs/base/words.hpp"
#include "codecs/multiples/multiples.hpp"

namespace mcr::codecs {
namespace {

constexpr std::size_t run_length = 8;
constexpr std::size_t few_runs = 8;
constexpr std::size_t many_runs = 64;
constexpr std::size_t least_numbers = 2 * run_length * few_runs;
constexpr std::size_t least_distinct = 16;
constexpr double conforming = 0.9;  // share of the numbers that must be multiples
constexpr double worth_bits = 1;    // bits per number

/// Returns runs of neighbours, spread evenly, with a jitter so that they are not aligned with any
/// stride.
template <typename Word>
std::vector<Word> sample_runs(ByteSpan raw, std::size_t runs, bool reverse) {
  const std::size_t count = raw.size() / sizeof(Word);
  runs = std::min(runs, count / run_length);
  std::vector<Word> words;
  words.reserve(runs * run_length);
  std::uint64_t random = 0x9e3779b97f4a7c15;
  for (std::size_t run = 0; run < runs; ++run) {
    random = random * 6364136223846793005U + 1442695040888963407U;
    const std::size_t window = count / runs;
    const std::size_t begin = run * window + (random >> 33) % (window - run_length + 1);
    for (std::size_t i = begin; i < begin + run_length; ++i) {
      const Word word = load<Word>(raw.data() + i * sizeof(Word));
      words.push_back(reverse ? reverse_bytes(word) : word);
    }
  }
  return words;
}

/// Returns the bits of the difference between neighbours, on average.
template <typename Word>
double bits_of_differences(const std::vector<Word>& numbers) {
  std::size_t bits = 0;
  for (std::size_t i = 1; i < numbers.size(); ++i) {
    if (i % run_length == 0) continue;
    const Word difference = zigzag(static_cast<Word>(numbers[i] - numbers[i - 1]));
    bits += static_cast<std::size_t>(std::bit_width(difference));
  }
  const std::size_t differences = numbers.size() - numbers.size() / run_length;
  return static_cast<double>(bits) / static_cast<double>(differences);
}

/// Returns the step that most groups of integers have in common; 1 if no two groups agree. Members
/// of a group are far apart, because neighbours may differ by multiples of more than the step.
template <typename Word>
Word common_step(const std::vector<Word>& integers) {
  constexpr std::size_t members = 8;
  const std::size_t groups = integers.size() / members;
  std::vector<Word> steps(groups);
  for (std::size_t group = 0; group < groups; ++group) {
    Word step = 0;
    for (std::size_t i = group + groups; i < groups * members && step != 1; i += groups) {
      step = std::gcd(step, static_cast<Word>(integers[i] - integers[i - groups]));
    }
    steps[group] = step;
  }
  Word best = 1;
  std::ptrdiff_t most = 1;
  for (const Word step : steps) {
    const auto times = std::count(steps.begin(), steps.end(), step);
    if (step > 1 && times > most) {
      most = times;
      best = step;
    }
  }
  return best;
}

/// Returns the remainder on which two neighbours agree.
template <typename Word>
Word common_remainder(const std::vector<Word>& integers, Word step) {
  for (std::size_t i = 0; i + 1 < integers.size(); ++i) {
    if (integers[i] % step == integers[i + 1] % step) return integers[i] % step;
  }
  return 0;
}

template <typename Word>
class Search {
 public:
  Search(const ElementType& type, ByteSpan raw, bool reverse)
      : type_(type), raw_(raw), reverse_(reverse), few_(sample_runs<Word>(raw, few_runs, reverse)) {
    // Each number counts once, because a frequent value, such as the one for "missing", need not be
    // a multiple.
    if (type.kind == ElementKind::signed_integer) {
      for (Word& word : few_) word ^= sign_bit<Word>;
    }
    std::sort(few_.begin(), few_.end());
    few_.erase(std::unique(few_.begin(), few_.end()), few_.end());
  }

  std::optional<Multiples> find() {
    if (few_.size() < least_distinct) return std::nullopt;
    if (type_.kind == ElementKind::floating) {
      if constexpr (sizeof(Word) > 1) look_at_floats();
    } else {
      look_at_integers();
    }
    return best_;
  }

 private:
  void look_at_integers() {
    const Word step = common_step(few_);
    if (step < 2 || step > sign_bit<Word>) return;
    Multiples multiples;
    multiples.step = step;
    const Word zero = type_.kind == ElementKind::signed_integer ? sign_bit<Word> : Word{0};
    multiples.base = (common_remainder(few_, step) + (step - zero % step)) % step;
    consider(multiples);
  }

  void look_at_floats() {
    // Finds the number of zero bits in which at least nine tenths of the magnitudes end.
    std::array<std::uint8_t, word_bits<Word>> ends{};
    std::size_t finite = 0;
    for (const Word word : few_) {
      const auto magnitude = static_cast<Word>(word & static_cast<Word>(~sign_bit<Word>));
      if (magnitude == 0) continue;
      ++finite;
      ++ends[static_cast<std::size_t>(std::countr_zero(magnitude))];
    }
    if (finite == 0) return;
    const auto spared = static_cast<std::size_t>(static_cast<double>(finite) * (1 - conforming));
    std::size_t zeros = 0;
    for (std::size_t fewer = ends[0]; fewer <= spared && zeros + 2 < word_bits<Word>;) {
      fewer += ends[++zeros];
    }
    if (zeros >= 2) {
      Multiples multiples;
      multiples.step = std::uint64_t{1} << zeros;
      consider(multiples);
    }
    if constexpr (sizeof(Word) >= 4) {
      if (zeros >= 2) look_for_powers_of_two();
      if (!look_for_decimals()) look_for_any_step();
    }
  }

  using Float = std::conditional_t<sizeof(Word) == 8, double, float>;
  static double value(Word word) { return static_cast<double>(std::bit_cast<Float>(word)); }

  /// Looks for numbers that differ by multiples of a power of two, whatever their exponents.
  void look_for_powers_of_two() {
    std::array<int, run_length * few_runs> last_bits;
    std::size_t count = 0;
    const double first = value(few_.front());
    for (const Word word : few_) {
      const double difference = value(word) - first;
      if (difference == 0 || !std::isfinite(difference)) continue;
      const auto zeros = std::countr_zero(std::bit_cast<std::uint64_t>(difference));
      last_bits[count++] = std::ilogb(difference) - 52 + std::min(zeros, 52);
    }
    if (count == 0) return;
    const auto spared = static_cast<std::ptrdiff_t>(static_cast<double>(count) * (1 - conforming));
    const auto last = last_bits.begin() + static_cast<std::ptrdiff_t>(count);
    std::nth_element(last_bits.begin(), last_bits.begin() + spared, last);
    Multiples multiples;
    multiples.form = Multiples::Form::times;
    multiples.scale = std::ldexp(1.0, last_bits[static_cast<std::size_t>(spared)]);
    multiples.origin = std::fmod(first, multiples.scale);
    consider(multiples);
  }

  /// Looks for numbers with a few decimal places.
  bool look_for_decimals() {
    constexpr int most_places = sizeof(Word) == 8 ? 12 : 6;
    double scale = 1;
    for (int places = 1; places <= most_places; ++places) {
      scale *= 10;
      std::uint64_t divisor = 0;
      if (!are_over(scale, divisor)) continue;
      // For halves, twentieths and the like, which are decimals too, reduces the scale.
      const auto whole = static_cast<std::uint64_t>(scale);
      if (divisor > 1 && whole % divisor == 0) scale /= static_cast<double>(divisor);
      Multiples multiples;
      multiples.form = Multiples::Form::over;
      multiples.scale = scale;
      consider(multiples);
      return true;
    }
    return false;
  }

  /// True if nearly all of few_ are k / scale; `divisor` receives the common divisor of all these
  /// k.
  bool are_over(double scale, std::uint64_t& divisor) const {
    constexpr double most = sizeof(Word) == 8 ? 0x1p49 : 0x1p20;
    const auto spared =
        static_cast<std::size_t>(static_cast<double>(few_.size()) * (1 - conforming));
    std::size_t others = 0;
    for (const Word word : few_) {
      const double k = std::nearbyint(std::fabs(value(word)) * scale);
      const bool is = k <= most && std::fabs(value(word)) == value_over(k, scale);
      if (is) {
        divisor = std::gcd(divisor, static_cast<std::uint64_t>(k));
      } else if (++others > spared) {
        return false;
      }
    }
    return true;
  }
  static double value_over(double k, double scale) {
    return static_cast<double>(static_cast<Float>(k / scale));
  }

  /// Looks for numbers origin + k * step for any step, with rounding. The smallest differences
  /// between some of the numbers give the step roughly; larger and larger ones make it exact.
  void look_for_any_step() {
    constexpr int mantissa_bits = sizeof(Word) == 8 ? 53 : 24;
    constexpr std::size_t smallest = 8;
    std::array<double, run_length * few_runs> numbers;
    std::size_t count = 0;
    for (const Word word : few_) {
      if (std::isfinite(value(word))) numbers[count++] = value(word);
    }
    const auto end = numbers.begin() + static_cast<std::ptrdiff_t>(count);
    std::sort(numbers.begin(), end);
    const auto unique =
        static_cast<std::size_t>(std::unique(numbers.begin(), end) - numbers.begin());
    if (unique < 2 * smallest) return;
    std::array<double, run_length * few_runs> magnitudes;
    for (std::size_t i = 0; i < unique; ++i) magnitudes[i] = std::fabs(numbers[i]);
    std::sort(magnitudes.begin(), magnitudes.begin() + static_cast<std::ptrdiff_t>(unique));
    // The value for "missing" is often far larger than all others, so the largest magnitudes are
    // ignored.
    const double large =
        magnitudes[static_cast<std::size_t>(static_cast<double>(unique - 1) * conforming)];
    if (large == 0) return;
    const double rounding = std::ldexp(1.0, std::ilogb(large) - mantissa_bits + 1);
    std::array<double, run_length * few_runs> gaps;
    for (std::size_t i = 0; i + 1 < unique; ++i) gaps[i] = numbers[i + 1] - numbers[i];
    std::sort(gaps.begin(), gaps.begin() + static_cast<std::ptrdiff_t>(unique - 1));
    double step = gaps[0];
    for (std::size_t i = 1; i < smallest && step > 0; ++i) {
      step = common_length(gaps[i], step, rounding);
    }
    if (step <= 0) return;
    measure(step, rounding, numbers[unique / 2]);
  }

  /// Returns the greatest common divisor of two lengths that are each known up to `error`, by Euclid's
  /// algorithm. 0: the divisor is not well above the errors that have added up.
  static double common_length(double a, double b, double error) {
    double error_a = error;
    double error_b = error;
    for (;;) {
      const double times = std::nearbyint(a / b);
      const double rest = std::fabs(a - times * b);
      const double error_rest = error_a + times * error_b;
      if (!(rest > 2 * error_rest))
        return b > 8 * error_rest ? b : 0;  // true also if one of them is a NaN
      a = b;
      error_a = error_b;
      b = rest;
      error_b = error_rest;
    }
  }

  /// Measures the step over longer and longer distances from `first`, then fits step and origin to
  /// many numbers.
  void measure(double step, double rounding, double first) {
    take_many();
    std::vector<double> offsets;
    for (const Word word : many_) {
      if (std::isfinite(value(word))) offsets.push_back(value(word) - first);
    }
    std::stable_sort(offsets.begin(), offsets.end(),
                     [](double a, double b) { return std::fabs(a) < std::fabs(b); });
    double error = rounding;                       // of the step
    std::vector<std::pair<double, double>> pairs;  // k and offset
    for (const double offset : offsets) {
      const double k = std::nearbyint(offset / step);
      if (std::fabs(offset - k * step) > 0.25 * step || std::fabs(k) * error > 0.25 * step)
        continue;
      pairs.emplace_back(k, offset);
      if (k == 0 || 2 * rounding / std::fabs(k) >= error) continue;
      step = offset / k;
      error = 2 * rounding / std::fabs(k);
    }
    const auto n = static_cast<double>(pairs.size());
    if (n < conforming * static_cast<double>(offsets.size())) return;
    double mean_k = 0;
    double mean_offset = 0;
    for (const auto& [k, offset] : pairs) {
      mean_k += k / n;
      mean_offset += offset / n;
    }
    double squares = 0;
    double products = 0;
    for (const auto& [k, offset] : pairs) {
      squares += (k - mean_k) * (k - mean_k);
      products += (k - mean_k) * (offset - mean_offset);
    }
    if (squares == 0) return;
    Multiples multiples;
    multiples.form = Multiples::Form::times;
    multiples.scale = nearest_decimal(products / squares, 4 * error);
    const double origin = first + (mean_offset - multiples.scale * mean_k);
    const double from_zero = std::nearbyint(origin / multiples.scale) * multiples.scale;
    if (std::fabs(origin - from_zero) <= 4 * rounding) consider(multiples);
    multiples.origin = origin;
    for (multiples.slack = 0; multiples.slack <= 4; ++multiples.slack) consider(multiples);
  }

  /// Returns a number of at most six decimal digits within `error`, if there is one.
  static double nearest_decimal(double number, double error) {
    double scale = 1;
    for (int places = 0; places <= 15; ++places, scale *= 10) {
      const double digits = std::nearbyint(number * scale);
      if (digits >= 1e6) break;
      if (digits >= 1 && std::fabs(digits / scale - number) <= error) return digits / scale;
    }
    return number;
  }

  /// Keeps the multiples with the smallest differences between neighbours.
  void consider(const Multiples& multiples) {
    if (!fits(multiples, type_)) return;
    take_many();
    std::vector<Word> numbers(many_.size());
    multiples_encode(multiples, type_, reinterpret_cast<const std::byte*>(many_.data()),
                     many_.size(), reinterpret_cast<std::byte*>(numbers.data()));
    const double bits = bits_of_differences(numbers);
    if (bits >= least_bits_) return;
    least_bits_ = bits;
    best_ = multiples;
  }

  void take_many() {
    if (!many_.empty()) return;
    many_ = sample_runs<Word>(raw_, many_runs, reverse_);
    std::vector<Word> ordered = many_;
    if (type_.kind == ElementKind::floating) {
      for (Word& word : ordered) word = ordered_from_float(word);
    }
    least_bits_ = bits_of_differences(ordered) - worth_bits;
  }

  ElementType type_;
  ByteSpan raw_;
  bool reverse_;
  std::vector<Word> few_;  // ascending, each once; signed integers in the order of unsigned ones
  std::vector<Word> many_;
  double least_bits_ = 0;
  std::optional<Multiples> best_;
};

}  // namespace

std::optional<Multiples> find_multiples(const ElementType& type, ByteSpan raw, bool reverse) {
  const DefaultFloatEnvironment mode;
  if (type.kind == ElementKind::bytes || raw.size() / type.size < least_numbers)
    return std::nullopt;
  return with_word(type.size,
                   [&]<typename Word>(Word) { return Search<Word>(type, raw, reverse).find(); });
}

}  // namespace mcr::codecs
