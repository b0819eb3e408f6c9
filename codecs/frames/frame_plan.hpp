// SPDX-License-Identifier: BSD-3-Clause
// Divides a variable's bricks into frames of about the same size: small bricks share a frame, large
// ones are cut into slabs. Guesses the shapes of flat bricks.
#pragma once

#include <cstddef>
#include <vector>

#include "codecs/base/layout.hpp"

namespace mcr::codecs {

/// The usual raw size of a frame. Larger frames do not compress better, and smaller frames are
/// slower (docs/compression.md).
inline constexpr std::size_t usual_frame_bytes = std::size_t{1} << 20;

/// Returns the shape for predictors. A flat brick of k^3 elements is taken for a cube, and one of
/// k^2 elements for a square, because simulations store meshes this way. All other shapes stay as
/// they are. If the guess is wrong, some predictors find nothing, and nothing else is lost.
Shape mesh_shape(const Shape& shape);
/// The same for all bricks.
Layout mesh_layout(const Layout& layout);

/// One frame's share of a variable.
struct FramePiece {
  Layout layout;          ///< of the piece, with mesh_shape applied
  std::size_t begin = 0;  ///< place in the variable's raw bytes
  std::size_t bytes = 0;
};

/// Cuts `layout` into frames of about `frame_bytes` raw bytes (at most a quarter more, unless one
/// row is larger). Returns nothing for a layout without elements.
std::vector<FramePiece> plan_frames(const Layout& layout, std::size_t frame_bytes);

}  // namespace mcr::codecs
