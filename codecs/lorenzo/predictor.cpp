// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/lorenzo/predictor.hpp"

#include <algorithm>

#include "codecs/lorenzo/order_formula.hpp"

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

}  // namespace

Predictor default_predictor(const ElementType& type) {
  return {3, type.kind == ElementKind::floating && type.size >= 4, false};
}

std::optional<Predictor> Predictor::from_byte(std::uint8_t byte) {
  const Predictor predictor{static_cast<std::uint8_t>(byte & 3), (byte & 4) != 0, (byte & 8) != 0,
                            static_cast<std::uint8_t>((byte >> 4) + 1)};
  const int highest = predictor.dimensions == 0   ? 1
                      : predictor.dimensions == 1 ? highest_order
                                                  : highest_box_order;
  if (predictor.order > highest) return std::nullopt;
  return predictor;
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
  view.order = predictor.order;
  view.floating = predictor.floating && (view.dimensions >= 2 || view.order > 1) && type.size >= 4;
  return view;
}

}  // namespace mcr::codecs
