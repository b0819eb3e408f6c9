// SPDX-License-Identifier: BSD-3-Clause
// The bricks of a layout as the predictors in the parameters of `lorenzo` see them.
#pragma once

#include "codecs/base/bytes.hpp"
#include "codecs/base/layout.hpp"
#include "codecs/lorenzo/predictor.hpp"

namespace mcr::codecs {

/// Returns the predictor of a brick; `parameters` must have been checked.
inline Predictor predictor_for(const Layout& layout, ByteSpan parameters, std::size_t brick) {
  if (parameters.empty()) return default_predictor(layout.type);
  const std::size_t index = parameters.size() == 1 ? 0 : brick;
  return *Predictor::from_byte(std::to_integer<std::uint8_t>(parameters[index]));
}

/// Calls `call(view, offset, bytes)` for each brick that is not empty.
template <typename Call>
void for_each_brick(const Layout& layout, ByteSpan parameters, const Call& call) {
  std::size_t offset = 0;
  for (std::size_t b = 0; b < layout.bricks.size(); ++b) {
    const Shape& shape = layout.bricks[b];
    const auto bytes = static_cast<std::size_t>(shape.count()) * layout.type.size;
    if (bytes == 0) continue;
    call(view_of(shape, layout.type, predictor_for(layout, parameters, b)), offset, bytes);
    offset += bytes;
  }
}

}  // namespace mcr::codecs
