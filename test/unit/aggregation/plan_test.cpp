// SPDX-License-Identifier: BSD-3-Clause
#include "aggregation/merge/plan.hpp"

#include <random>

#include "aggregation/merge/schemes.hpp"
#include "test/support/catch.hpp"

namespace mcr::aggregation {
namespace {

using codecs::Shape;
using restart::MapEntry;

/// A dataset of one piece with elements of eight bytes.
DatasetPlan dataset_of(std::vector<std::uint64_t> extents) {
  DatasetPlan plan;
  plan.type_bytes = 8;
  plan.element = {codecs::ElementKind::floating, 8, false};
  plan.shapes = {extents};
  std::uint64_t bytes = 8;
  for (const std::uint64_t extent : extents) bytes *= extent;
  plan.pieces = {{0, 0, 0, bytes, 0}};
  plan.set_shape(std::move(extents));
  return plan;
}

TEST_CASE("frames are the dataset's bytes in order, about a mebibyte each, cut along one axis") {
  const std::vector<std::vector<std::uint64_t>> shapes{{1},
                                                       {1000},
                                                       {1000000},
                                                       {3, 5, 7},
                                                       {64, 200, 300},
                                                       {2, 3, 1000, 1000},
                                                       {7, 1, 1, 300000},
                                                       {100000, 3}};
  for (const auto& extents : shapes) {
    const DatasetPlan plan = dataset_of(extents);
    std::uint64_t position = 0;
    for (std::uint32_t i = 0; i < plan.frame_count(); ++i) {
      const DatasetPlan::Frame frame = plan.frame(i);
      REQUIRE(frame.begin == position);
      REQUIRE(frame.bytes > 0);
      REQUIRE(frame.bytes <= plan.chunk_bytes());
      position += frame.bytes;
      const auto offset = plan.chunk_offset(i);
      std::uint64_t element = 0;
      for (std::size_t axis = 0; axis < extents.size(); ++axis) {
        REQUIRE(offset[axis] % plan.chunk[axis] == 0);
        element = element * extents[axis] + offset[axis];
      }
      REQUIRE(element * 8 == frame.begin);
      REQUIRE(plan.layout_of(frame).raw_bytes() == frame.bytes);
      const DatasetPlan::Place place = plan.place_of(frame.begin + frame.bytes - 1);
      REQUIRE(place.frame == i);
      REQUIRE(place.offset == frame.bytes - 1);
    }
    REQUIRE(position == plan.raw_bytes());
    REQUIRE(plan.chunk_bytes() <= frame_target_bytes);
  }
}

TEST_CASE("a frame's bricks are whole rows where it holds them, and flat where it cuts one") {
  DatasetPlan plan = dataset_of({4, 10});
  const auto bricks = [&](std::uint64_t begin, std::uint64_t end) {
    return plan.layout_of({begin * 8, (end - begin) * 8}).bricks;
  };
  CHECK(bricks(0, 40) == std::vector<Shape>{{2, {4, 10}}});
  CHECK(bricks(5, 37) == std::vector<Shape>{Shape::flat(5), {2, {2, 10}}, Shape::flat(7)});
  CHECK(bricks(12, 17) == std::vector<Shape>{Shape::flat(5)});
  CHECK(bricks(10, 20) == std::vector<Shape>{{2, {1, 10}}});
  plan = dataset_of({2, 3, 4, 5, 6, 7});
  CHECK(bricks(0, 5040) == std::vector<Shape>{{4, {24, 5, 6, 7}}});  // four axes at most
}

TEST_CASE("every byte of every part has one place, whatever the scheme") {
  std::mt19937 random(3);
  for (int round = 0; round < 50; ++round) {
    const std::uint64_t block = round % 2 == 0 ? 0 : 1 + random() % 5000;
    std::vector<std::uint64_t> part_bytes;
    for (std::size_t i = 0; i < 1 + random() % 5; ++i) part_bytes.push_back(random() % 30000);
    const bool whole = round % 3 == 0;
    std::vector<DatasetPlan> datasets;
    if (whole) {
      datasets = plan_whole_parts(part_bytes, 0, block);
    } else {
      // Three extents in each part that is large enough; two variables.
      for (int variable = 0; variable < 2; ++variable) {
        DatasetPlan plan;
        plan.shapes = {{}};
        for (std::uint32_t part = 0; part < part_bytes.size(); ++part) {
          if (part_bytes[part] < 6000) continue;
          plan.pieces.push_back(
              {part, 0, 1000 + 2000ULL * static_cast<unsigned>(variable), 1500, plan.raw_bytes()});
        }
        if (plan.pieces.empty()) continue;
        plan.set_shape({plan.raw_bytes()});
        datasets.push_back(std::move(plan));
      }
    }
    const MergePlan plan = finish_plan(std::move(datasets), part_bytes, 0);
    for (std::uint32_t part = 0; part < part_bytes.size(); ++part) {
      std::uint64_t offset = 0;
      std::uint64_t skeleton = 0;
      for (const MapEntry& entry : plan.parts[part].entries) {
        REQUIRE(entry.length > 0);
        const bool in_skeleton = entry.dataset == MapEntry::skeleton;
        const DatasetPlan& dataset =
            in_skeleton ? plan.datasets.back() : plan.datasets[entry.dataset];
        const std::uint64_t position =
            in_skeleton ? plan.parts[part].skeleton.begin + entry.skeleton_position
                        : dataset.frame(entry.frame).begin + entry.frame_offset;
        // The pieces there lead back to the same bytes of the part.
        for (std::uint64_t i = 0; i < entry.length; i += 97) {
          const Piece& piece = dataset.pieces[dataset.piece_at(position + i)];
          REQUIRE(piece.part == part);
          REQUIRE(piece.part_offset + (position + i - piece.position) == offset + i);
        }
        if (in_skeleton) {
          REQUIRE(entry.skeleton_position == skeleton);
          skeleton += entry.length;
        }
        offset += entry.length;
      }
      REQUIRE(offset == part_bytes[part]);
      REQUIRE(skeleton == plan.parts[part].skeleton.bytes);
    }
  }
}

TEST_CASE("scheme names are read, and unknown ones listed") {
  for (const Scheme scheme :
       {Scheme::aware, Scheme::aware_block, Scheme::agnostic, Scheme::agnostic_block}) {
    const auto parsed = parse_scheme(scheme_name(scheme));
    REQUIRE(parsed);
    CHECK(*parsed == scheme);
  }
  CHECK(*parse_scheme("auto") == Scheme::aware);
  const auto refused = parse_scheme("fast");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.find("agnostic-block") != std::string::npos);
}

}  // namespace
}  // namespace mcr::aggregation
