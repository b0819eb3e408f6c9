// SPDX-License-Identifier: BSD-3-Clause
// Boxes and the six orders in which their axes can be walked. A brick that holds a field with its
// axes exchanged (y where another holds x) is the other brick in another order. spec.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "codecs/base/layout.hpp"

namespace mcr::codecs {

/// Extents of a brick seen as a box of three dimensions, slowest first.
using Box = std::array<std::uint32_t, 3>;

/// The box of a shape. Leading extents of 1 are filled in and the slowest of four are folded; a
/// flat brick of k*k*k elements is taken for a cube, one of k*k for a square: simulations store
/// their meshes so.
Box box_of(const Shape& shape);

/// Which axis of the source each axis of the target runs along, one of six.
using AxisOrder = std::uint8_t;
inline constexpr AxisOrder axis_order_count = 6;
inline constexpr AxisOrder same_order = 0;

/// True where `source` walked in `order` has the extents of `target`.
bool fits(const Box& source, const Box& target, AxisOrder order);

/// Distance in the source between neighbours along each axis of the target.
std::array<std::size_t, 3> strides_in(const Box& source, AxisOrder order);

/// to[i, j, k] = the element of `from` at the same place in `order`. Both are as long as the box.
template <typename T>
void gather(std::span<const T> from, const Box& source, const Box& target, AxisOrder order,
            std::span<T> to);

/// Index in the source of each element of the target.
void gather_index(const Box& source, const Box& target, AxisOrder order,
                  std::span<std::uint32_t> to);

}  // namespace mcr::codecs
