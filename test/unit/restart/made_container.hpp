// SPDX-License-Identifier: BSD-3-Clause
// A container without HDF5: user block, frames, index. Enough for a reader that needs no more.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "restart/container/container_reader.hpp"

namespace mcr::restart {

/// Two ranks, each with a header of 100 bytes, 5,000 numbers of "a" and 300 of "b", and 50 bytes at
/// its end. "a" has frames of 8,000 bytes, which the ranks' border cuts; "b" lies in one frame.
struct MadeContainer {
  std::string path;
  std::vector<Bytes> parts;
  std::vector<FramePlace> frames;  ///< of "a", then that of "b", then that of the skeletons

  /// `scale`: so many times as many numbers, in frames as much larger.
  explicit MadeContainer(std::string file, unsigned scale = 1, std::string masked_name = {});
  [[nodiscard]] std::shared_ptr<ContainerReader> open() const;
  void flip(std::uint64_t place) const;
};

}  // namespace mcr::restart
