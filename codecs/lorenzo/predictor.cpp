// SPDX-License-Identifier: BSD-3-Clause
// The estimator computes the true residual of each candidate at points spread over the brick, and
// takes its bit length for its cost: what class_coder stores of a number is close to that.
#include "codecs/lorenzo/predictor.hpp"

#include <algorithm>
#include <bit>

#include "codecs/base/float_mode.hpp"
#include "codecs/lorenzo/lorenzo_formula.hpp"
#include "codecs/lorenzo/lorenzo_rows.hpp"

namespace mcr::codecs {
namespace {

std::uint32_t root_of(std::uint64_t count, int power) {
  for (std::uint32_t k = 2;; ++k) {
    std::uint64_t product = 1;
    for (int i = 0; i < power; ++i) product *= k;
    if (product == count) return k;
    if (product > count) return 0;
  }
}

/// The neighbours of one number; outside the box, zeros.
template <typename Word>
struct Neighbourhood {
  Word here, left, up, up_left, back, back_left, back_up, back_up_left;
};

template <typename Word>
Neighbourhood<Word> neighbourhood(const std::byte* volume, const LorenzoBox& box, std::size_t plane,
                                  std::size_t row, std::size_t column) {
  const auto number = [&](std::size_t dz, std::size_t dy, std::size_t dx) {
    if (dz > plane || dy > row || dx > column) return Word{0};
    const std::size_t index = ((plane - dz) * box.rows + row - dy) * box.columns + column - dx;
    return load<Word>(volume + index * sizeof(Word));
  };
  return {number(0, 0, 0), number(0, 0, 1), number(0, 1, 0), number(0, 1, 1),
          number(1, 0, 0), number(1, 0, 1), number(1, 1, 0), number(1, 1, 1)};
}

template <typename Word>
unsigned residual_bits(const Neighbourhood<Word>& n, const BrickView& view, bool ordered) {
  if constexpr (sizeof(Word) >= 4) {
    if (view.floating) {
      using Float = FloatOf<Word>;
      const auto f = [](Word word) { return std::bit_cast<Float>(word); };
      const Float prediction = view.dimensions == 2 ? predict_2d(f(n.left), f(n.up), f(n.up_left))
                                                    : predict_3d(f(n.left), f(n.up), f(n.up_left),
                                                                 f(n.back) - f(n.back_left),
                                                                 f(n.back_up) - f(n.back_up_left));
      return static_cast<unsigned>(std::bit_width(floating_residual<Word>(f(n.here), prediction)));
    }
  }
  const auto o = [&](Word word) { return ordered ? ordered_from_float(word) : word; };
  Word difference = o(n.here);
  if (view.dimensions >= 1) difference = static_cast<Word>(difference - o(n.left));
  if (view.dimensions >= 2) difference = static_cast<Word>(difference - o(n.up) + o(n.up_left));
  if (view.dimensions >= 3) {
    difference = static_cast<Word>(difference - o(n.back) + o(n.back_left) + o(n.back_up) -
                                   o(n.back_up_left));
  }
  return static_cast<unsigned>(std::bit_width(zigzag(difference)));
}

constexpr std::size_t most_points = 96;

/// Mean residual in 1/256 bits over points inside the brick, where all neighbours exist.
template <typename Word>
std::uint32_t estimate(const std::byte* brick, const BrickView& view, bool ordered) {
  LorenzoBox box = box_for(view.dimensions, view.box);
  const std::size_t volume = box.planes * box.rows * box.columns;
  const std::size_t count = box.count();
  const std::size_t points = std::clamp<std::size_t>(count / 8, 8, most_points);
  std::uint64_t bits = 0;
  std::size_t taken = 0;
  for (std::size_t p = 0; p < points; ++p) {
    // Steps of the golden ratio spread points evenly over the brick, whatever its shape.
    const std::uint64_t spread = (p + 1) * 0x9e3779b97f4a7c15U;
    const auto index = static_cast<std::size_t>(((spread >> 32) * count) >> 32);
    const std::size_t inside = index % volume;
    const std::size_t column = inside % box.columns;
    const std::size_t row = inside / box.columns % box.rows;
    const std::size_t plane = inside / box.columns / box.rows;
    if ((view.dimensions >= 1 && column == 0 && box.columns > 1) ||
        (view.dimensions >= 2 && row == 0 && box.rows > 1) ||
        (view.dimensions >= 3 && plane == 0 && box.planes > 1)) {
      continue;
    }
    const std::byte* const start = brick + (index - inside) * sizeof(Word);
    bits += residual_bits(neighbourhood<Word>(start, box, plane, row, column), view, ordered);
    ++taken;
  }
  return taken == 0 ? word_bits<Word> * 256 : static_cast<std::uint32_t>(bits * 256 / taken);
}

}  // namespace

Predictor default_predictor(const ElementType& type) {
  return {3, type.kind == ElementKind::floating && type.size >= 4, false};
}

BrickView view_of(const Shape& shape, const ElementType& type, const Predictor& predictor) {
  BrickView view;
  const std::uint64_t count = shape.count();
  if (count == 0) return view;
  int rank = shape.rank;
  if (shape.rank == 1) {
    view.box.columns = shape.extent[0];
    if (predictor.cube && predictor.dimensions >= 2) {
      if (const std::uint32_t k = root_of(count, 3); k != 0) {
        view.box = {1, k, k, k};
        rank = 3;
      } else if (const std::uint32_t side = root_of(count, 2); side != 0) {
        view.box = {1, 1, side, side};
        rank = 2;
      }
    }
  } else {
    view.box.columns = shape.extent[shape.rank - 1U];
    view.box.rows = shape.extent[shape.rank - 2U];
    if (shape.rank > 2) view.box.planes = shape.extent[shape.rank - 3U];
    if (shape.rank > 3) view.box.volumes = shape.extent[0];
  }
  view.dimensions = std::min<int>(predictor.dimensions, rank);
  view.floating = predictor.floating && view.dimensions >= 2 && type.size >= 4;
  return view;
}

Bytes choose_predictors(const Layout& layout, ByteSpan raw) {
  const bool ordered = layout.type.kind == ElementKind::floating;
  const bool can_float = ordered && layout.type.size >= 4;
  std::vector<Predictor> candidates{{0, false, false}, {1, false, false}};
  for (const std::uint8_t dimensions : {std::uint8_t{2}, std::uint8_t{3}}) {
    candidates.push_back({dimensions, false, true});
    if (can_float) candidates.push_back({dimensions, true, true});
  }
  const IeeeMode mode;
  std::vector<std::uint64_t> total(candidates.size());
  Bytes each;
  std::uint64_t sum_of_best = 0;
  const std::byte* brick = raw.data();
  std::vector<std::uint32_t> cost(candidates.size());
  for (const Shape& shape : layout.bricks) {
    const std::uint64_t count = shape.count();
    std::size_t best = 1;
    for (std::size_t c = 0; c < candidates.size() && count != 0; ++c) {
      const BrickView view = view_of(shape, layout.type, candidates[c]);
      // A brick of lower rank is not asked the same question twice.
      if (view.dimensions < candidates[c].dimensions) {
        cost[c] =
            cost[static_cast<std::size_t>(view.dimensions) == 2 ? (view.floating ? 3 : 2) : 1];
      } else {
        cost[c] = with_word(layout.type.size, [&]<typename Word>(Word) {
          return estimate<Word>(brick, view, ordered);
        });
      }
      total[c] += cost[c] * count;
      if (cost[c] < cost[best]) best = c;
    }
    if (count != 0) sum_of_best += cost[best] * count;
    each.push_back(static_cast<std::byte>(candidates[best].byte()));
    brick += count * layout.type.size;
  }
  std::size_t best = 1;
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    if (total[c] < total[best]) best = c;
  }
  const Bytes one{static_cast<std::byte>(candidates[best].byte())};
  // Costs are in 1/256 bits. An own predictor for each brick takes a byte; estimates err by some
  // percent of a bit, which must not count as a gain.
  const std::uint64_t needed = each.size() * 8 * 256 + total[best] / 400;
  const bool pays = each.size() > 1 && each.size() <= 4000 && sum_of_best + needed < total[best];
  return pays ? each : one;
}

}  // namespace mcr::codecs
