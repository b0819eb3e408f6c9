// SPDX-License-Identifier: BSD-3-Clause
// Boxes, and the six orders of their axes. If a brick has the field of another brick with axes
// exchanged (y in place of x), it equals the other brick walked in another order. See spec.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "codecs/base/layout.hpp"

namespace mcr::codecs {

/// Extents of a brick as a box of three dimensions, slowest first.
using Box = std::array<std::uint32_t, 3>;

/// Returns the box of a shape. Missing leading extents are 1; of four extents, the two slowest are
/// folded. A flat brick of k*k*k elements is taken for a cube, and one of k*k elements for a
/// square, because simulations store meshes this way.
Box box_of(const Shape& shape);

/// One of six orders. An order gives the source axis for each axis of the target.
using AxisOrder = std::uint8_t;
inline constexpr AxisOrder axis_order_count = 6;
inline constexpr AxisOrder same_order = 0;

/// True if `source`, walked in `order`, has the extents of `target`.
bool fits(const Box& source, const Box& target, AxisOrder order);

/// Returns the distance in the source between neighbours along each axis of the target.
std::array<std::size_t, 3> strides_in(const Box& source, AxisOrder order);

/// Sets to[i, j, k] to the element of `from` at that place in `order`. Both spans are as long as
/// the box.
template <typename T>
void gather(std::span<const T> from, const Box& source, const Box& target, AxisOrder order,
            std::span<T> to);

/// Sets `to` to the source index of each element of the target.
void gather_index(const Box& source, const Box& target, AxisOrder order,
                  std::span<std::uint32_t> to);

}  // namespace mcr::codecs
