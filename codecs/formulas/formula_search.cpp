// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/formulas/formula_search.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "codecs/base/float_environment.hpp"
#include "codecs/word_candidates/differences.hpp"

namespace mcr::codecs {
namespace {

constexpr std::size_t probe_count = 3;
constexpr std::size_t max_columns = 40;         // pairs are tried among these
constexpr std::size_t max_square_columns = 16;  // triples are tried among these
constexpr std::size_t max_hits = 24;            // relations of a variable that are examined

using Op = Operation;
using Code = std::vector<Formula::Word>;

constexpr Formula::Word input(unsigned i) { return {Op::input, static_cast<std::uint8_t>(i)}; }
constexpr Formula::Word constant(unsigned i) {
  return {Op::constant, static_cast<std::uint8_t>(i)};
}
constexpr Formula::Word op(Op operation) { return {operation, 0}; }

/// Families of relations: c is the unknown constant, a and b are inputs 0 and 1.
enum class Family : std::uint8_t { ratio, product, scaled, inverse, sum, squares };

struct Hit {
  Family family = Family::scaled;
  bool root = false;  ///< the family gives the square of the variable
  std::vector<std::uint32_t> inputs;
  std::vector<double> constants;  ///< from the probes that agree
  double spread = 0;              ///< the relative difference between these constants
};

/// Returns all ways in which programs compute a family, with the constants c, d = 1/c and 1.
std::vector<Code> spellings(Family family, std::size_t inputs, bool is_one) {
  const auto a = input(0);
  const auto b = input(1);
  const auto c = constant(0);
  const auto d = constant(1);
  const auto one = constant(2);
  const auto mul = op(Op::multiply);
  const auto div = op(Op::divide);
  const auto add = op(Op::add);
  switch (family) {
    case Family::ratio:
      if (is_one) return {{a, b, div}, {a, one, b, div, mul}};
      return {{c, a, mul, b, div},
              {c, a, b, div, mul},
              {c, b, div, a, mul},
              {c, one, b, div, mul, a, mul},
              {a, one, b, div, mul, c, mul},
              {c, a, mul, one, b, div, mul},
              {a, d, b, mul, div},
              {a, d, div, b, div},
              {a, b, div, d, div}};
    case Family::product:
      if (is_one) return {{a, b, mul}};
      return {{c, a, mul, b, mul}, {c, b, mul, a, mul}, {a, b, mul, c, mul}, {a, b, mul, d, div}};
    case Family::scaled:
      if (is_one) return {{a}};
      return {{c, a, mul}, {a, d, div}};
    case Family::inverse:
      return {{c, a, div}};
    case Family::sum:
      if (is_one) return {{a, b, add}};
      return {{c, b, mul, a, add}, {a, b, d, div, add}};
    case Family::squares:
      break;
  }
  // a + c*(b^2 + ...): every order of the squares, with c applied once or to each of them.
  std::vector<Code> codes;
  std::vector<unsigned> order;
  for (unsigned i = 1; i < inputs; ++i) order.push_back(i);
  do {
    Code together{c};
    Code apart{a};
    Code squared_first{a};
    for (std::size_t n = 0; n < order.size(); ++n) {
      const auto x = input(order[n]);
      together.insert(together.end(), {x, x, mul});
      if (n != 0) together.push_back(add);
      apart.insert(apart.end(), {c, x, mul, x, mul, add});
      squared_first.insert(squared_first.end(), {c, x, x, mul, mul, add});
    }
    together.insert(together.end(), {mul, a, add});
    codes.push_back(together);
    codes.push_back(apart);
    codes.push_back(squared_first);
  } while (std::next_permutation(order.begin(), order.end()));
  return codes;
}

/// Returns p/q near `value` with the smallest q.
std::optional<double> small_fraction(double value, double tolerance, int largest) {
  const double size = std::fabs(value);
  if (!(size > 1e-6) || size > 1e6) return std::nullopt;
  for (int q = 1; q <= largest; ++q) {
    const double p = std::nearbyint(value * q);
    if (p != 0 && std::fabs(p / q - value) <= tolerance * size) return p / q;
  }
  return std::nullopt;
}

template <typename T>
class Search {
  using F = std::conditional_t<sizeof(T) == 4, float, double>;
  static constexpr double tolerance = sizeof(T) == 8 ? 1e-6 : 1e-4;
  static constexpr double exact_tolerance = sizeof(T) == 8 ? 1e-11 : 3e-6;

 public:
  Search(const Samples<T>& samples, Scratch& scratch) : samples_(samples), scratch_(scratch) {
    for (const auto& column : samples.columns) {
      auto& out = values_.emplace_back();
      bool varied = false;
      for (const T word : column) {
        out.push_back(static_cast<double>(std::bit_cast<F>(word)));
        varied |= word != column.front();
      }
      varied_.push_back(varied);
    }
    for (std::uint32_t i = 0; i < values_.size() && candidates_.size() < max_columns; ++i) {
      if (varied_[i]) candidates_.push_back(i);
    }
  }

  FoundFormula best(std::uint32_t target) {
    FoundFormula found;
    found.bits_per_word = word_bits<T>;
    if (!choose_probes(target)) return found;
    hits_.clear();
    for (const bool root : {false, true}) {
      take_target(target, root);
      singles(target, root);
      pairs(target, root);
    }
    take_target(target, false);
    squares(target);
    std::stable_sort(hits_.begin(), hits_.end(),
                     [](const Hit& a, const Hit& b) { return a.spread < b.spread; });
    if (hits_.size() > max_hits) hits_.resize(max_hits);
    for (const Hit& hit : hits_) try_hit(target, hit, found);
    return found;
  }

 private:
  template <typename U>
  static constexpr double word_bits = sizeof(U) * 8;

  /// Chooses three rows at which the variable has different, ordinary values.
  bool choose_probes(std::uint32_t target) {
    if (!varied_[target]) return false;
    const auto& values = values_[target];
    std::size_t found = 0;
    for (std::size_t row = 0; row < values.size() && found < probe_count; ++row) {
      const double value = values[row];
      if (!std::isnormal(value)) continue;
      bool seen = false;
      for (std::size_t p = 0; p < found; ++p) seen |= values[probes_[p]] == value;
      if (!seen) probes_[found++] = row;
    }
    if (found < probe_count) return false;
    at_.clear();
    for (const std::uint32_t column : candidates_) {
      at_.push_back(
          {values_[column][probes_[0]], values_[column][probes_[1]], values_[column][probes_[2]]});
    }
    return true;
  }

  void take_target(std::uint32_t target, bool root) {
    for (std::size_t p = 0; p < probe_count; ++p) {
      const double value = values_[target][probes_[p]];
      target_[p] = root ? value * value : value;
    }
  }

  /// Keeps the relation if two of the three constants agree.
  void offer(Family family, bool root, std::initializer_list<std::uint32_t> inputs, double c0,
             double c1, double c2) {
    const double s01 = std::fabs(c0 - c1);
    const double s12 = std::fabs(c1 - c2);
    const double s02 = std::fabs(c0 - c2);
    double spread = s01;
    double first = c0;
    double second = c1;
    if (s12 < spread) {
      spread = s12;
      first = c1;
      second = c2;
    }
    if (s02 < spread) {
      spread = s02;
      first = c0;
      second = c2;
    }
    const double size = std::fabs(first);
    if (!(spread <= tolerance * size) || !std::isnormal(first) || hits_.size() == 4096) return;
    Hit hit{family, root, {}, {first, second}, spread / size};
    for (const std::uint32_t i : inputs) hit.inputs.push_back(candidates_[i]);
    hits_.push_back(std::move(hit));
  }

  void singles(std::uint32_t target, bool root) {
    for (std::uint32_t i = 0; i < candidates_.size(); ++i) {
      if (candidates_[i] == target) continue;
      const auto& a = at_[i];
      offer(Family::scaled, root, {i}, target_[0] / a[0], target_[1] / a[1], target_[2] / a[2]);
      offer(Family::inverse, root, {i}, target_[0] * a[0], target_[1] * a[1], target_[2] * a[2]);
    }
  }

  void pairs(std::uint32_t target, bool root) {
    for (std::uint32_t i = 0; i < candidates_.size(); ++i) {
      if (candidates_[i] == target) continue;
      const auto& a = at_[i];
      const double over[3] = {target_[0] / a[0], target_[1] / a[1], target_[2] / a[2]};
      const double rest[3] = {target_[0] - a[0], target_[1] - a[1], target_[2] - a[2]};
      for (std::uint32_t j = 0; j < candidates_.size(); ++j) {
        if (j == i || candidates_[j] == target) continue;
        const auto& b = at_[j];
        offer(Family::ratio, root, {i, j}, over[0] * b[0], over[1] * b[1], over[2] * b[2]);
        if (j > i) {
          offer(Family::product, root, {i, j}, over[0] / b[0], over[1] / b[1], over[2] / b[2]);
        }
        if (!root) {
          offer(Family::sum, root, {i, j}, rest[0] / b[0], rest[1] / b[1], rest[2] / b[2]);
        }
      }
    }
  }

  void squares(std::uint32_t target) {
    const auto count = static_cast<std::uint32_t>(std::min(candidates_.size(), max_square_columns));
    for (std::uint32_t i = 0; i < count; ++i) {
      if (candidates_[i] == target) continue;
      const auto& a = at_[i];
      const double rest[3] = {target_[0] - a[0], target_[1] - a[1], target_[2] - a[2]};
      for (std::uint32_t j = 0; j < count; ++j) {
        if (j == i || candidates_[j] == target) continue;
        const auto& b = at_[j];
        const double one[3] = {b[0] * b[0], b[1] * b[1], b[2] * b[2]};
        offer(Family::squares, false, {i, j}, rest[0] / one[0], rest[1] / one[1], rest[2] / one[2]);
        for (std::uint32_t k = j + 1; k < count; ++k) {
          if (k == i || candidates_[k] == target) continue;
          const auto& c = at_[k];
          const double two[3] = {one[0] + c[0] * c[0], one[1] + c[1] * c[1], one[2] + c[2] * c[2]};
          offer(Family::squares, false, {i, j, k}, rest[0] / two[0], rest[1] / two[1],
                rest[2] / two[2]);
          for (std::uint32_t l = k + 1; l < count; ++l) {
            if (l == i || candidates_[l] == target) continue;
            const auto& d = at_[l];
            offer(Family::squares, false, {i, j, k, l}, rest[0] / (two[0] + d[0] * d[0]),
                  rest[1] / (two[1] + d[1] * d[1]), rest[2] / (two[2] + d[2] * d[2]));
          }
        }
      }
    }
  }

  /// Returns candidates for the constant: first small fractions, then values computed from the
  /// samples.
  std::vector<double> constants_of(const Hit& hit) const {
    std::vector<double> values;
    const auto put = [&values](double value) {
      if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
    };
    const double c = hit.constants[0];
    if (const auto value = small_fraction(c, tolerance * 10, 8)) put(*value);
    if (const auto value = small_fraction(c, exact_tolerance, 1000)) put(*value);
    for (const double value : hit.constants) {
      put(value);
      // The quotient of rounded numbers differs from the constant by an ulp or two.
      const auto word = std::bit_cast<T>(static_cast<F>(value));
      for (T step = 1; step <= 2; ++step) {
        put(static_cast<double>(std::bit_cast<F>(static_cast<T>(word + step))));
        put(static_cast<double>(std::bit_cast<F>(static_cast<T>(word - step))));
      }
    }
    return values;
  }

  double measure(std::uint32_t target, const Formula& formula,
                 const std::vector<std::uint32_t>& inputs) {
    const T* columns[Formula::max_inputs];
    for (std::size_t i = 0; i < inputs.size(); ++i) columns[i] = samples_.columns[inputs[i]].data();
    const auto& words = samples_.columns[target];
    result_.resize(words.size());
    evaluate<T>(formula, std::span<const T* const>(columns, inputs.size()), scratch_, result_);
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < words.size(); ++i) {
      bits += words::cost(words::Numbers::floating, words[i], result_[i]);
    }
    return static_cast<double>(bits) / static_cast<double>(words.size());
  }

  void try_formula(std::uint32_t target, const Formula& formula,
                   const std::vector<std::uint32_t>& inputs, FoundFormula& found) {
    const double bits = measure(target, formula, inputs);
    if (bits + 0.01 < found.bits_per_word) found = {formula, inputs, bits};
  }

  void try_hit(std::uint32_t target, const Hit& hit, FoundFormula& found) {
    FoundFormula here;
    here.bits_per_word = word_bits<T>;
    for (const double c : constants_of(hit)) {
      for (Code& code : spellings(hit.family, hit.inputs.size(), c == 1)) {
        Formula formula;
        formula.words = std::move(code);
        if (hit.root) formula.words.push_back(op(Op::square_root));
        formula.constants = {c, 1 / c, 1};
        trim(formula);
        try_formula(target, formula, hit.inputs, here);
      }
    }
    // Tries a bound, such as a floor for temperatures or a ceiling for velocities. It is the value
    // that samples share where the formula is wrong.
    if (here.bits_per_word < word_bits<T> && here.bits_per_word > 0) {
      if (const auto bound = shared_value(target, here)) {
        for (const Op side : {Op::larger, Op::smaller}) {
          Formula formula = here.formula;
          const auto at = static_cast<unsigned>(formula.constants.size());
          formula.constants.push_back(*bound);
          formula.words.push_back(constant(at));
          formula.words.push_back(op(side));
          try_formula(target, formula, here.inputs, here);
        }
      }
    }
    if (here.bits_per_word + 0.01 < found.bits_per_word) found = here;
  }

  /// Removes the constants that the program does not use.
  static void trim(Formula& formula) {
    std::vector<double> kept;
    std::vector<unsigned> number(formula.constants.size(), ~0U);
    for (auto& word : formula.words) {
      if (word.operation != Op::constant) continue;
      if (number[word.operand] == ~0U) {
        number[word.operand] = static_cast<unsigned>(kept.size());
        kept.push_back(formula.constants[word.operand]);
      }
      word = constant(number[word.operand]);
    }
    formula.constants = std::move(kept);
  }

  std::optional<double> shared_value(std::uint32_t target, const FoundFormula& here) {
    measure(target, here.formula, here.inputs);
    std::map<T, std::size_t> counts;
    const auto& words = samples_.columns[target];
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (words[i] != result_[i]) ++counts[words[i]];
    }
    const auto most = std::max_element(counts.begin(), counts.end(),
                                       [](auto& a, auto& b) { return a.second < b.second; });
    if (most == counts.end() || most->second < 3) return std::nullopt;
    const F value = std::bit_cast<F>(most->first);
    if (value != value) return std::nullopt;
    return static_cast<double>(value);
  }

  const Samples<T>& samples_;
  Scratch& scratch_;
  std::vector<std::vector<double>> values_;
  std::vector<bool> varied_;
  std::vector<std::uint32_t> candidates_;
  std::array<std::size_t, probe_count> probes_{};
  std::array<double, probe_count> target_{};
  std::vector<std::array<double, probe_count>> at_;  // the candidates' values at the probes
  std::vector<Hit> hits_;
  std::vector<T> result_;
};

}  // namespace

template <typename T>
std::vector<FoundFormula> find_formulas(const Samples<T>& samples, Scratch& scratch) {
  const DefaultFloatEnvironment environment;
  Search<T> search(samples, scratch);
  std::vector<FoundFormula> found;
  for (std::uint32_t i = 0; i < samples.columns.size(); ++i) found.push_back(search.best(i));
  return found;
}

template std::vector<FoundFormula> find_formulas<std::uint32_t>(const Samples<std::uint32_t>&,
                                                                Scratch&);
template std::vector<FoundFormula> find_formulas<std::uint64_t>(const Samples<std::uint64_t>&,
                                                                Scratch&);

}  // namespace mcr::codecs
