// SPDX-License-Identifier: BSD-3-Clause
// How a variable's bricks are laid into frames of about one size: small bricks together, large ones
// in slabs; and the shapes that flat bricks probably have.
#pragma once

#include <cstddef>
#include <vector>

#include "codecs/base/layout.hpp"

namespace mcr::codecs {

/// The usual raw size of a frame: more gains nothing, less costs speed (docs/compression.md).
inline constexpr std::size_t usual_frame_bytes = std::size_t{1} << 20;

/// The shape that a predictor should believe in: a flat brick of k^3 elements is taken for a cube,
/// one of k^2 for a square, since simulations store meshes so; every other shape is itself. Where
/// it is not one, nothing is lost but a candidate's chance.
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
/// Nothing for a layout without elements.
std::vector<FramePiece> plan_frames(const Layout& layout, std::size_t frame_bytes);

}  // namespace mcr::codecs
