// SPDX-License-Identifier: BSD-3-Clause
// The inverse of the parts' maps: for each frame, which of its bytes belong to which part, and at
// which offset of that part.
#pragma once

#include <cstdint>
#include <vector>

#include "restart/container/container_reader.hpp"

namespace mcr::restart {

/// A frame, and the bytes of it that the parts need.
struct ScatteredFrame {
  struct Target {
    std::uint32_t part = 0;  ///< index in container.parts()
    std::uint32_t begin = 0;
    std::uint32_t bytes = 0;
    std::uint64_t part_offset = 0;
  };
  std::uint32_t dataset = 0;
  std::uint32_t number = 0;
  FramePlace place;
  std::vector<Target> targets;
};

/// What the parts need: the frames of variables in the order of the file, and the ranges of each
/// part that are skeleton. Every range lies inside its part, every target inside its frame.
struct Scatter {
  struct Range {
    std::uint32_t part = 0;
    std::uint64_t part_offset = 0;
    std::uint64_t bytes = 0;
  };
  std::vector<ScatteredFrame> frames;
  std::vector<Range> skeletons;
};
Result<Scatter> scatter_of(ContainerReader& container, const std::vector<std::uint32_t>& parts);

}  // namespace mcr::restart
