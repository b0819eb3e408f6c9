// SPDX-License-Identifier: BSD-3-Clause
// Divides a variable's bricks into frames of about one size: small bricks together, large ones in
// slabs. Guesses the shapes of flat bricks.
#pragma once

#include <cstddef>
#include <vector>

#include "codecs/base/layout.hpp"

namespace mcr::codecs {

/// The usual raw size of a frame: larger frames gain nothing, smaller ones cost speed
/// (docs/compression.md).
inline constexpr std::size_t usual_frame_bytes = std::size_t{1} << 20;

/// Returns the shape for predictors: a flat brick of k^3 elements is taken for a cube, one of k^2
/// for a square, because simulations store meshes this way. All other shapes stay as they are. A
/// wrong guess only makes one candidate useless.
Shape mesh_shape(const Shape& shape);
/// The same for all bricks.
Layout mesh_layout(const Layout& layout);

/// One frame's share of a variable.
struct FramePiece {
  Layout layout;          ///< of the piece, with mesh_shape applied
  std::size_t begin = 0;  ///< in the variable's raw bytes
  std::size_t bytes = 0;
};

/// Cuts `layout` into frames of about `frame_bytes` raw bytes (at most a quarter more, or one row).
/// Returns nothing for a layout without elements.
std::vector<FramePiece> plan_frames(const Layout& layout, std::size_t frame_bytes);

}  // namespace mcr::codecs
