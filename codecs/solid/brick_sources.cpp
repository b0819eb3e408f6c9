// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/solid/brick_sources.hpp"

#include <algorithm>

namespace mcr::codecs::solid {
namespace {

using Kind = PredictionSource::Kind;

constexpr std::size_t places_tried = 64;
/// Extra bits per word if a prediction other than the first one is used.
constexpr unsigned change_bits = 2;
/// Bits to name one more prediction, which must also save half a bit per place.
constexpr unsigned naming_bits = 40;

/// Returns all predictions that are possible for the brick.
template <typename T>
std::vector<BrickSource> pool_of(const PredictedBrick<T>& brick, const Box& box) {
  std::vector<BrickSource> pool;
  if (brick.computed != nullptr) pool.push_back({Kind::formula, {}, 0});
  for (const Reference& reference : brick.promising) {
    pool.push_back({Kind::reference, reference, 0});
  }
  for (std::uint8_t axes = 0; axes < 8; ++axes) {
    // An axis of extent 1 has no neighbours, and the last axis alone is the default, the word
    // before.
    const bool useless = ((axes & 1) != 0 && box[0] == 1) || ((axes & 2) != 0 && box[1] == 1) ||
                         ((axes & 4) != 0 && box[2] == 1) || axes == 4;
    if (!useless) pool.push_back({Kind::neighbours, {}, axes});
  }
  return pool;
}

/// Returns places where the brick varies, and some at even distances.
std::vector<std::uint32_t> places_of(std::span<const std::uint32_t> varied, std::size_t words) {
  std::vector<std::uint32_t> places;
  const std::size_t from_varied = std::min(varied.size(), places_tried * 3 / 4);
  for (std::size_t i = 0; i < from_varied; ++i) {
    places.push_back(varied[i * varied.size() / from_varied]);
  }
  const std::size_t evenly = std::min(words, places_tried - from_varied);
  for (std::size_t i = 0; i < evenly; ++i) {
    places.push_back(static_cast<std::uint32_t>(i * words / evenly));
  }
  return places;
}

template <typename T>
T prediction_at(const BrickSource& source, const PredictedBrick<T>& brick, const Box& box,
                const WordHistory<T>& history, const words::Walk<T>& walk) {
  const std::size_t at = walk.at();
  if (source.kind == Kind::formula) return brick.computed[at];
  if (source.kind == Kind::reference) {
    const std::uint32_t from_brick = source.reference.brick;
    const auto stride = strides_in(history.index.box(from_brick), source.reference.order);
    const std::size_t from = at / box[2] / box[1] * stride[0] + at / box[2] % box[1] * stride[1] +
                             at % box[2] * stride[2];
    if (from_brick != brick.number) return history.index.words(from_brick)[from];
    if (from < at) return brick.words[from];
  }
  if (source.kind == Kind::neighbours && source.axes != 0) {
    words::Prediction<T> neighbours;
    neighbours.kind = words::Prediction<T>::Kind::neighbours;
    neighbours.axes = source.axes;
    return walk.predict(neighbours);
  }
  return walk.previous();
}

}  // namespace

template <typename T>
BrickSources choose_sources(const PredictedBrick<T>& brick, const WordHistory<T>& history,
                            std::size_t most) {
  const Box& box = history.index.box(brick.number);
  const std::vector<BrickSource> pool = pool_of(brick, box);
  const std::vector<std::uint32_t> places = places_of(history.index.varied(), brick.words.size());
  std::vector<std::uint8_t> costs(pool.size() * places.size());
  words::Walk<T> walk(brick.numbers, box, brick.words.data());
  for (std::size_t i = 0; i < places.size(); ++i) {
    walk.go_to(places[i]);
    for (std::size_t p = 0; p < pool.size(); ++p) {
      const T predicted = prediction_at(pool[p], brick, box, history, walk);
      costs[p * places.size() + i] =
          static_cast<std::uint8_t>(words::cost(brick.numbers, brick.words[places[i]], predicted));
    }
  }
  BrickSources chosen;
  std::vector<unsigned> best(places.size(), 255);
  unsigned so_far = static_cast<unsigned>(places.size()) * 255;
  while (chosen.sources.size() < most) {
    const bool is_first = chosen.sources.empty();
    const unsigned change = is_first ? 0 : change_bits;
    const auto cost_at = [&](std::size_t p, std::size_t i) {
      return std::min<unsigned>(best[i], costs[p * places.size() + i] + change);
    };
    std::size_t winner = pool.size();
    unsigned least =
        is_first ? so_far + 1
                 : so_far - std::min<unsigned>(
                                so_far, naming_bits + static_cast<unsigned>(places.size() / 2));
    for (std::size_t p = 0; p < pool.size(); ++p) {
      unsigned sum = 0;
      for (std::size_t i = 0; i < places.size(); ++i) sum += cost_at(p, i);
      if (sum < least) {
        least = sum;
        winner = p;
      }
    }
    if (winner == pool.size()) break;
    for (std::size_t i = 0; i < places.size(); ++i) best[i] = cost_at(winner, i);
    so_far = least;
    chosen.sources.push_back(pool[winner]);
  }
  if (chosen.sources.empty()) chosen.sources.emplace_back();
  if (!places.empty()) chosen.estimated_bits = so_far * brick.words.size() / places.size();
  return chosen;
}

template BrickSources choose_sources<std::uint32_t>(const PredictedBrick<std::uint32_t>&,
                                                    const WordHistory<std::uint32_t>&, std::size_t);
template BrickSources choose_sources<std::uint64_t>(const PredictedBrick<std::uint64_t>&,
                                                    const WordHistory<std::uint64_t>&, std::size_t);

}  // namespace mcr::codecs::solid
