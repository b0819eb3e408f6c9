// SPDX-License-Identifier: BSD-3-Clause
// A container that is made without HDF5: user block, frames, index. ContainerReader needs no more.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "restart/container/container_reader.hpp"

namespace mcr::restart {

/// Two ranks, each with a header of 100 bytes, 5,000 numbers of "a" and 300 of "b", and 50 bytes at
/// its end. "a" has frames of 8,000 bytes, one of which holds bytes of both ranks; "b" lies in one
/// frame.
struct MadeContainer {
  std::string path;
  std::vector<Bytes> parts;
  std::vector<FramePlace> frames;  ///< those of "a", then that of "b", then that of the skeletons

  /// `scale` multiplies the count of numbers and the size of frames.
  explicit MadeContainer(std::string file, unsigned scale = 1, std::string masked_name = {});
  [[nodiscard]] std::shared_ptr<ContainerReader> open() const;
  void flip(std::uint64_t place) const;
};

}  // namespace mcr::restart
