// SPDX-License-Identifier: BSD-3-Clause
#include "codecs/frames/frame_plan.hpp"

#include "test/support/catch.hpp"

namespace mcr::codecs {
namespace {

const ElementType double_type{ElementKind::floating, 8, false};

std::size_t largest_piece(const std::vector<FramePiece>& pieces) {
  std::size_t largest = 0;
  for (const FramePiece& piece : pieces) largest = std::max(largest, piece.bytes);
  return largest;
}

void require_gapless(const std::vector<FramePiece>& pieces, const Layout& layout) {
  std::size_t position = 0;
  for (const FramePiece& piece : pieces) {
    REQUIRE(piece.begin == position);
    REQUIRE(piece.bytes == piece.layout.raw_bytes());
    REQUIRE(piece.layout.type == layout.type);
    position += piece.bytes;
  }
  REQUIRE(position == layout.raw_bytes());
}

TEST_CASE("flat meshes are seen as cubes and squares, and nothing else is") {
  REQUIRE(mesh_shape(Shape::flat(1728)) == Shape{3, {12, 12, 12}});
  REQUIRE(mesh_shape(Shape::flat(68921)) == Shape{3, {41, 41, 41}});
  REQUIRE(mesh_shape(Shape::flat(10000)) == Shape{2, {100, 100}});
  REQUIRE(mesh_shape(Shape::flat(1729)) == Shape::flat(1729));
  REQUIRE(mesh_shape(Shape::flat(0)) == Shape::flat(0));
  REQUIRE(mesh_shape(Shape::flat(27)) == Shape::flat(27));
  REQUIRE(mesh_shape({2, {1728, 1}}) == Shape{2, {1728, 1}});
}

TEST_CASE("small bricks share frames") {
  const Layout layout{double_type, std::vector<Shape>(1000, Shape::flat(11))};
  const auto pieces = plan_frames(layout, 8000);
  require_gapless(pieces, layout);
  REQUIRE(pieces.size() <= 11);
  REQUIRE(largest_piece(pieces) <= 10000);
}

TEST_CASE("a large brick is cut into slabs of nearly equal height") {
  const Layout layout{double_type, {{3, {101, 20, 30}}}};
  const auto pieces = plan_frames(layout, 100000);
  require_gapless(pieces, layout);
  REQUIRE(largest_piece(pieces) <= 125000);
  for (const FramePiece& piece : pieces) {
    for (const Shape& slab : piece.layout.bricks) {
      REQUIRE(slab.rank == 3);
      REQUIRE(slab.extent[0] >= 16);
      REQUIRE(slab.extent[1] == 20);
    }
  }
}

TEST_CASE("a brick whose rows are too large is cut within its rows") {
  const Layout layout{double_type, {{3, {2, 50, 1000}}, Shape::flat(0), Shape::flat(100003)}};
  const auto pieces = plan_frames(layout, 20000);
  require_gapless(pieces, layout);
  REQUIRE(largest_piece(pieces) <= 25000);
}

TEST_CASE("a layout without elements needs no frame") {
  REQUIRE(plan_frames({double_type, {}}, 1000).empty());
  REQUIRE(plan_frames({double_type, {Shape::flat(0), {2, {5, 0}}}}, 1000).empty());
}

}  // namespace
}  // namespace mcr::codecs
