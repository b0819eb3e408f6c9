// SPDX-License-Identifier: BSD-3-Clause
// The estimator computes the exact residual of each candidate at points spread over the brick. A
// residual costs its bit length, which is close to what class_coder stores for it.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <vector>

#include "codecs/base/float_environment.hpp"
#include "codecs/lorenzo/lorenzo_formula.hpp"
#include "codecs/lorenzo/order_formula.hpp"
#include "codecs/lorenzo/predictor.hpp"

namespace mcr::codecs {
namespace {

/// The neighbours of one number; zeros outside the box.
template <typename Word>
struct Neighbourhood {
  Word here, left, up, up_left, back, back_left, back_up, back_up_left;
};

template <typename Word>
Neighbourhood<Word> neighbourhood(const BrickWords& brick, std::size_t volume,
                                  const LorenzoBox& box, std::size_t plane, std::size_t row,
                                  std::size_t column) {
  const auto number = [&](std::size_t dz, std::size_t dy, std::size_t dx) {
    if (dz > plane || dy > row || dx > column) return Word{0};
    const std::size_t index = ((plane - dz) * box.rows + row - dy) * box.columns + column - dx;
    return brick.get<Word>(volume + index);
  };
  return {number(0, 0, 0), number(0, 0, 1), number(0, 1, 0), number(0, 1, 1),
          number(1, 0, 0), number(1, 0, 1), number(1, 1, 0), number(1, 1, 1)};
}

/// The candidates, in the order in which they are tried. The floating-point ones are only for
/// binary32 and binary64, for which orders above 1 are in floating point as well.
enum Candidate : std::size_t {
  none,
  row,
  integer_2d,
  integer_3d,
  row_order_2,
  row_order_3,
  row_order_4,
  order_2_2d,
  order_2_3d,
  floating_2d,
  floating_3d
};
constexpr std::size_t candidate_count = 11;
constexpr std::size_t first_with_order = row_order_2;
constexpr std::size_t last_with_order = order_2_3d;

Predictor predictor_of(std::size_t candidate, bool floating) {
  constexpr Predictor predictors[candidate_count] = {
      {0, false, false},    {1, false, false},    {2, false, true},     {3, false, true},
      {1, false, false, 2}, {1, false, false, 3}, {1, false, false, 4}, {2, false, true, 2},
      {3, false, true, 2},  {2, true, true},      {3, true, true}};
  Predictor predictor = predictors[candidate];
  if (predictor.order > 1) predictor.floating = floating;
  return predictor;
}

/// Returns log2 of a residual in 1/256: its bit length, with the bits below the leading one as
/// fraction.
template <typename Word>
std::uint32_t cost_of(Word residual) {
  const auto length = static_cast<unsigned>(std::bit_width(residual));
  if (length < 2) return length * 256;
  const std::uint64_t top = std::uint64_t{residual} << (64 - length);
  return length * 256 + static_cast<std::uint32_t>(top << 1 >> 56);
}

using Costs = std::array<std::uint64_t, candidate_count>;
/// Added, in 1/256 bits, to the cost of orders above 1. They are slower to decode, and with only a
/// few points one of many candidates looks better than it is.
constexpr std::uint64_t order_penalty = 40;
constexpr std::uint64_t not_looked_at = 1U << 20;

void forget_orders(Costs& costs) {
  std::fill_n(costs.begin() + first_with_order, last_with_order - first_with_order + 1,
              not_looked_at);
}

/// Statistics of small residuals. For numbers of a few bits, the distribution matters more than the
/// length: counts each small residual alone, and larger ones by their length.
class SmallResiduals {
 public:
  template <typename Word>
  void add(std::size_t candidate, Word residual) {
    const auto length = static_cast<unsigned>(std::bit_width(residual));
    const bool exact = residual < exact_values;
    ++counts_[candidate][exact ? static_cast<unsigned>(residual) : exact_values + length];
    ++of_sign_[candidate][residual & 1];
    rest_[candidate] += exact ? 0 : length - 1;
  }
  /// Returns the bits of a residual in an order-0 code; a huge number if nothing was added for the
  /// candidate.
  [[nodiscard]] double bits(std::size_t candidate) const {
    double total = 0;
    double sum = 0;
    for (const std::uint32_t count : counts_[candidate]) {
      if (count == 0) continue;
      total += count;
      sum += count * std::log2(static_cast<double>(count));
    }
    if (total == 0) return 1e9;
    return std::log2(total) + (static_cast<double>(rest_[candidate]) - sum) / total;
  }

  /// Returns how many bits of a residual's sign are known: 1 if all signs are equal, as for sorted
  /// numbers.
  [[nodiscard]] double known_of_sign(std::size_t candidate) const {
    const auto& [even, odd] = of_sign_[candidate];
    const double total = even + odd;
    double entropy = 0;
    for (const double count : {static_cast<double>(even), static_cast<double>(odd)})
      if (count > 0) entropy += count / total * std::log2(total / count);
    return total == 0 ? 0 : 1 - entropy;
  }

 private:
  static constexpr unsigned exact_values = 64;
  std::array<std::array<std::uint32_t, exact_values + 65>, candidate_count> counts_{};
  std::array<std::uint64_t, candidate_count> rest_{};
  std::array<std::array<std::uint32_t, 2>, candidate_count> of_sign_{};  ///< not negative, negative
};

/// For each candidate up to `dimensions`, adds the cost of the exact residual at one point.
template <typename Word>
void add_costs(const Neighbourhood<Word>& n, Word before, int dimensions, bool ordered,
               Costs& costs, SmallResiduals& small) {
  const auto o = [&](Word word) { return ordered ? ordered_from_float(word) : word; };
  const auto add = [&](Candidate candidate, Word difference) {
    const auto residual = zigzag(difference);
    costs[candidate] += cost_of(residual);
    small.add(candidate, residual);
  };
  const Word here = o(n.here);
  add(none, here);
  add(row, static_cast<Word>(here - o(before)));
  if (dimensions < 2) return;
  const auto flat = static_cast<Word>(here - o(n.left) - o(n.up) + o(n.up_left));
  add(integer_2d, flat);
  if (dimensions > 2) {
    add(integer_3d,
        static_cast<Word>(flat - o(n.back) + o(n.back_left) + o(n.back_up) - o(n.back_up_left)));
  }
  if constexpr (sizeof(Word) >= 4) {
    if (!ordered) return;
    using Float = FloatOf<Word>;
    const auto f = [](Word word) { return std::bit_cast<Float>(word); };
    costs[floating_2d] +=
        cost_of(floating_residual<Word>(f(n.here), predict_2d(f(n.left), f(n.up), f(n.up_left))));
    if (dimensions > 2) {
      costs[floating_3d] += cost_of(floating_residual<Word>(
          f(n.here), predict_3d(f(n.left), f(n.up), f(n.up_left), f(n.back) - f(n.back_left),
                                f(n.back_up) - f(n.back_up_left))));
    }
  }
}

struct PlaceInBox {
  std::size_t plane;
  std::size_t row;
  std::size_t column;
};

/// For each candidate with an order above 1, adds the cost of the exact residual at one point.
/// `at(dz, dy, dx)` is a number before the point in its box, `in_row(dx)` one in the brick as one
/// row.
template <typename A, typename At, typename InRow>
void add_order_costs(int dimensions, const PlaceInBox& place, std::size_t index, const At& at,
                     const InRow& in_row, Costs& costs, SmallResiduals& small) {
  const auto reach = [](std::size_t before, int order) {
    return static_cast<int>(std::min<std::size_t>(before, static_cast<std::size_t>(order)));
  };
  const auto add = [&](Candidate candidate, typename A::Number prediction) {
    const auto residual = A::residual(in_row(0), prediction);
    costs[candidate] += cost_of(residual) + order_penalty;
    small.add(candidate, residual);
  };
  const auto along_row = [&](int, int, int dx) { return in_row(dx); };
  for (int order = 2; order <= highest_order; ++order) {
    add(static_cast<Candidate>(row_order_2 + static_cast<std::size_t>(order - 2)),
        predicted_by_order<A>({0, 0, reach(index, order)}, along_row));
  }
  if (dimensions < 2) return;
  add(order_2_2d, predicted_by_order<A>({0, reach(place.row, 2), reach(place.column, 2)}, at));
  if (dimensions < 3) return;
  add(order_2_3d, predicted_by_order<A>(
                      {reach(place.plane, 2), reach(place.row, 2), reach(place.column, 2)}, at));
}

/// The same for the number `index` of a brick.
template <typename Word>
void add_order_costs_at(const BrickWords& brick, std::size_t index, const PlaceInBox& place,
                        const BrickView& view, bool ordered, Costs& costs, SmallResiduals& small) {
  const auto word = [&](int dz, int dy, int dx) {
    const auto rows = static_cast<std::size_t>(dz) * view.box.rows + static_cast<std::size_t>(dy);
    const std::size_t back = rows * view.box.columns + static_cast<std::size_t>(dx);
    return brick.get<Word>(index - back);
  };
  const auto add = [&]<typename A>(const auto& number) {
    add_order_costs<A>(
        view.dimensions, place, index,
        [&](int dz, int dy, int dx) { return number(word(dz, dy, dx)); },
        [&](int dx) { return number(word(0, 0, dx)); }, costs, small);
  };
  if constexpr (sizeof(Word) >= 4) {
    if (ordered) {
      return add.template operator()<FloatingArithmetic<Word>>(
          [](Word bits) { return std::bit_cast<FloatOf<Word>>(bits); });
    }
  }
  add.template operator()<IntegerArithmetic<Word>>(
      [&](Word bits) { return ordered ? ordered_from_float(bits) : bits; });
}

constexpr std::size_t most_points = 64;
constexpr std::size_t numbers_a_point = 50;  // one point for this many numbers, within limits

/// Returns the mean cost of each candidate over points spread over the brick, including its faces,
/// which matter most in small bricks.
template <typename Word>
Costs estimate(const BrickWords& brick, const Shape& shape, const ElementType& type, bool orders,
               SmallResiduals& small) {
  const BrickView view = view_of(shape, type, predictor_of(floating_3d, false));
  const LorenzoBox& box = view.box;
  const bool ordered = type.kind == ElementKind::floating;
  const std::size_t volume = box.planes * box.rows * box.columns;
  const std::size_t count = box.count();
  const std::size_t points = std::clamp<std::size_t>(count / numbers_a_point, 4, most_points);
  Costs costs{};
  for (std::size_t p = 0; p < points; ++p) {
    // Steps of the golden ratio spread points evenly over a brick of any shape.
    const std::uint64_t spread = (p + 1) * 0x9e3779b97f4a7c15U;
    const auto index = static_cast<std::size_t>(((spread >> 32) * count) >> 32);
    const std::size_t inside = index % volume;
    const std::size_t columns = box.columns;
    const std::size_t plane = inside / columns / box.rows;
    const std::size_t row_number = inside / columns % box.rows;
    const auto n =
        neighbourhood<Word>(brick, index - inside, box, plane, row_number, inside % columns);
    const Word before = index == 0 ? Word{0} : brick.get<Word>(index - 1);
    add_costs(n, before, view.dimensions, ordered, costs, small);
    if (orders) {
      add_order_costs_at<Word>(brick, index, {plane, row_number, inside % columns}, view, ordered,
                               costs, small);
    }
  }
  for (std::uint64_t& cost : costs) cost /= points;
  if (!orders) forget_orders(costs);
  if (view.dimensions < 2) costs[order_2_2d] = costs[row_order_2];
  if (view.dimensions < 3) costs[order_2_3d] = costs[order_2_2d];
  // If a brick cannot have a candidate because of its lower rank, or because it has integers, the
  // candidate gets the cost of the one that is used instead.
  if (view.dimensions < 2) costs[integer_2d] = costs[row];
  if (view.dimensions < 3) costs[integer_3d] = costs[integer_2d];
  const bool floating = ordered && type.size >= 4;
  if (!floating || view.dimensions < 2) costs[floating_2d] = costs[integer_2d];
  if (!floating) costs[floating_3d] = costs[integer_3d];
  if (floating && view.dimensions < 3) costs[floating_3d] = costs[floating_2d];
  return costs;
}

bool has_order(std::size_t candidate) {
  return candidate >= first_with_order && candidate <= last_with_order;
}

/// True if an order above 1 is close to the best of the others, so that more bricks must be sampled
/// for it.
bool may_have_order(const Costs& total, std::uint64_t numbers) {
  std::uint64_t best = UINT64_MAX;
  std::uint64_t best_with_order = UINT64_MAX;
  for (std::size_t c = 0; c < candidate_count; ++c) {
    std::uint64_t& smaller = has_order(c) ? best_with_order : best;
    smaller = std::min(smaller, total[c]);
  }
  return best_with_order < best + numbers * 256;
}

/// The sampled costs of all bricks.
struct Asked {
  std::vector<Costs> of_bricks;
  Costs total{};  ///< each brick's times its numbers
  std::uint64_t numbers = 0;
  SmallResiduals small;
};

Asked ask(const Layout& layout, std::span<const BrickWords> words) {
  constexpr std::size_t looked_at_for_orders = 4;
  Asked asked;
  asked.of_bricks.reserve(layout.bricks.size());
  bool orders = true;
  std::size_t looked_at = 0;
  for (std::size_t b = 0; b < layout.bricks.size(); ++b) {
    const Shape& shape = layout.bricks[b];
    const std::uint64_t count = shape.count();
    Costs& costs = asked.of_bricks.emplace_back();
    if (count == 0) continue;
    costs = with_word(layout.type.size, [&]<typename Word>(Word) {
      return estimate<Word>(words[b], shape, layout.type, orders, asked.small);
    });
    for (std::size_t c = 0; c < candidate_count; ++c) asked.total[c] += costs[c] * count;
    asked.numbers += count;
    if (++looked_at == looked_at_for_orders && !may_have_order(asked.total, asked.numbers)) {
      // Equal bricks must get equal predictors, so that the next codec finds their residuals equal.
      orders = false;
      for (Costs& earlier : asked.of_bricks) forget_orders(earlier);
    }
  }
  return asked;
}

/// For integers: deducts the known sign bits from the costs, because the next codecs do not store
/// them.
void deduct_known_signs(Asked& asked, std::size_t candidates) {
  for (std::size_t c = 0; c < candidates; ++c) {
    const auto known = static_cast<std::uint64_t>(256 * asked.small.known_of_sign(c));
    asked.total[c] -= std::min(asked.total[c], known * asked.numbers);
    for (Costs& of_brick : asked.of_bricks) of_brick[c] -= std::min(of_brick[c], known);
  }
}

std::size_t cheapest(const Costs& costs, std::size_t candidates) {
  std::size_t best = row;
  for (std::size_t c = 0; c < candidates; ++c) {
    if (costs[c] < costs[best]) best = c;
  }
  return best;
}

/// Returns the best candidate for integers of a few bits, for which the length of residuals does
/// not show the cost well enough.
std::size_t best_of_small(const Asked& asked, std::size_t candidates, std::size_t best) {
  constexpr std::uint64_t small_bits = 10;
  constexpr double clear_gain = 0.05;
  if (asked.numbers == 0 || asked.total[best] / asked.numbers >= small_bits * 256) return best;
  for (std::size_t c = none; c < candidates; ++c) {
    // With a few points, a candidate whose residuals are wide noise looks better than it is.
    if (has_order(c) && asked.total[c] >= asked.total[best]) continue;
    if (asked.small.bits(c) < asked.small.bits(best) - clear_gain) best = c;
  }
  return best;
}

}  // namespace

Bytes choose_predictors(const Layout& layout, ByteSpan raw) {
  std::vector<BrickWords> words;
  words.reserve(layout.bricks.size());
  const std::byte* at = raw.data();
  for (const Shape& shape : layout.bricks) {
    words.push_back({at, layout.type.size});
    at += shape.count() * layout.type.size;
  }
  return choose_predictors(layout, words);
}

Bytes choose_predictors(const Layout& layout, std::span<const BrickWords> words) {
  // A few points per brick show which candidate is best for all bricks together. A brick gets
  // another candidate only if its own points show a clear gain. With a free choice for every brick,
  // bricks of 5000 numbers became 0.3 % larger, because the estimates are noisy.
  constexpr std::uint64_t clear_gain = 400;  // 1/256 bits a number
  constexpr std::size_t most_own = 4000;
  const DefaultFloatEnvironment mode;
  const bool floating = layout.type.kind == ElementKind::floating && layout.type.size >= 4;
  const std::size_t candidates = floating ? candidate_count : floating_2d;
  Asked asked = ask(layout, words);
  if (!floating) deduct_known_signs(asked, candidates);
  std::size_t common = cheapest(asked.total, candidates);
  if (!floating) common = best_of_small(asked, candidates, common);
  Bytes each;
  std::uint64_t gain = 0;
  for (std::size_t b = 0; b < asked.of_bricks.size(); ++b) {
    const Costs& costs = asked.of_bricks[b];
    const std::size_t own = cheapest(costs, candidates);
    const bool leaves = costs[own] + clear_gain < costs[common];
    if (leaves) gain += (costs[common] - costs[own]) * layout.bricks[b].count();
    each.push_back(static_cast<std::byte>(predictor_of(leaves ? own : common, floating).byte()));
  }
  const bool pays = each.size() > 1 && each.size() <= most_own && gain > each.size() * 8 * 256;
  return pays ? each : Bytes{static_cast<std::byte>(predictor_of(common, floating).byte())};
}

}  // namespace mcr::codecs
